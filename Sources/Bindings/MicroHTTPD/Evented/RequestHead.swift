internal import CMicroHTTPD

/// Looks at the head of a request as it lies in the buffer of its connection, once the library has
/// read it.
///
/// libmicrohttpd 0.9.75 takes lines that end with a bare LF, joins those that begin with a blank,
/// takes blanks before a colon, ends values and lines at a zero byte, and of two fields that say
/// how long the body is believes the first. A proxy in front may find other requests in the same
/// bytes, and so could whoever sends them (RFC 9112 §11.2): all of that is refused here.
enum RequestHead {
    /// Where the words of the first line are.
    struct FirstLine {
        let method: UnsafePointer<CChar>
        let target: UnsafePointer<CChar>?
        let version: UnsafePointer<CChar>?
    }

    /// Such as `HTTP/1.1`; the library refuses all others.
    private static let versionCount = 8
    /// The CR and LF of a line.
    private static let endCount = 2

    /// Why a request is refused before its body is read; `nil`: it is not.
    static func fault(of exchange: EventedExchange, _ line: FirstLine) -> HeadFault? {
        do throws(HeadFault) {
            try check(exchange, line)
            return nil
        } catch {
            return error
        }
    }

    private static func check(
        _ exchange: EventedExchange, _ line: FirstLine
    ) throws(HeadFault) {
        let (method, target) = (exchange.method.utf8, exchange.target.utf8)
        guard method.allSatisfy(HeadCharacters.isOfToken) else { throw .method }
        guard !target.isEmpty, target.allSatisfy({ (0x21...0x7E).contains($0) }) else {
            throw .target
        }
        // What was read lies one behind the other, without anything between.
        guard let begin = line.target, let version = line.version,
            line.method + method.count + 1 == begin, begin + target.count + 1 == version
        else { throw .lines }
        var fields = RequestFields(line: version + versionCount + endCount)
        withUnsafeMutablePointer(to: &fields) { fields in
            _ = MHD_get_connection_values_n(
                exchange.connection, .HEADER_KIND, takeField, UnsafeMutableRawPointer(fields))
        }
        if let fault = fields.fault { throw fault }
        let end = line.method + cmicrohttpd_head_bytes(exchange.connection)
        guard fields.line + endCount == end else { throw .lines }
        let isOld = version[versionCount - 1] == CChar(bitPattern: UInt8(ascii: "0"))
        try check(fields, exchange, isOld: isOld)
    }

    /// - Parameter isOld: whether it is one of HTTP/1.0.
    private static func check(
        _ fields: RequestFields, _ exchange: EventedExchange, isOld: Bool
    ) throws(HeadFault) {
        guard fields.hosts == 1 || (isOld && fields.hosts == 0) else { throw .host }
        guard fields.lengths + fields.codings <= 1, !isOld || fields.codings == 0 else {
            throw .framing
        }
        guard fields.codings == 0 || fields.isChunked else { throw .coding }
        // Without a body, which no client may say (RFC 9110 §10.1.1), the library takes the next
        // request for one.
        let hasBody = fields.length > 0 || fields.codings > 0
        guard !fields.isUnexpected, hasBody || !fields.waits else { throw .expectation }
        let bodyMax = exchange.server.limits.bodyBytes
        guard fields.length <= bodyMax, fields.codings == 0 || bodyMax > 0 else {
            throw .bodyTooLarge
        }
        if fields.codings > 0 { exchange.isLast = true }
    }
}

/// What the library calls for each field, in the order of their lines.
private func takeField(
    _ fields: UnsafeMutableRawPointer?, _: MHD_ValueKind, _ name: UnsafePointer<CChar>?,
    _ nameCount: Int, _ value: UnsafePointer<CChar>?, _ valueCount: Int
) -> MHD_Result {
    guard let fields = fields?.assumingMemoryBound(to: RequestFields.self), let name, let value
    else { return .NO }
    do throws(HeadFault) {
        try fields.pointee.take(
            UnsafeBufferPointer(start: name, count: nameCount),
            UnsafeBufferPointer(start: value, count: valueCount))
        return .YES
    } catch {
        fields.pointee.fault = error
        return .NO
    }
}
