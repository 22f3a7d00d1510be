internal import CMicroHTTPD

/// Looks at the head of a request as it lies in the buffer of its connection, once the library has
/// read it.
///
/// libmicrohttpd 0.9.75 takes lines that end with a bare LF, joins those that begin with a blank,
/// takes blanks before a colon, ends values and lines at a zero byte, and of two fields that say
/// how long the body is believes the first. A proxy in front may find other requests in the same
/// bytes, and so could whoever sends them (RFC 9112 §11.2): all of that is refused here, but for a
/// zero byte in the place of a CR before a LF, which nobody can see afterwards.
struct RequestHead {
    /// Where the words of the first line are.
    let method, target, version: UnsafePointer<CChar>
    /// From the version to behind the empty line.
    let rest: UnsafeRawBufferPointer
    private var end: UnsafeRawPointer? { rest.baseAddress.map { $0 + rest.count } }

    /// `nil` where the library does not say where they are.
    init?(
        _ connection: OpaquePointer, method: UnsafePointer<CChar>,
        target: UnsafePointer<CChar>?, version: UnsafePointer<CChar>?
    ) {
        guard let target, let version else { return nil }
        (self.method, self.target, self.version) = (method, target, version)
        let count = Int(cmicrohttpd_head_bytes(connection)) - (version - method)
        guard version > method, count > Self.versionCount else { return nil }
        rest = UnsafeRawBufferPointer(start: version, count: count)
    }

    /// Such as `HTTP/1.1`; the library refuses all others.
    private static let versionCount = 8
    /// The CR and LF of a line.
    private static let endCount = 2

    /// Why a request is refused before its body is read; `nil`: it is not.
    func fault(of exchange: EventedExchange) -> HeadFault? {
        do throws(HeadFault) {
            try check(exchange)
            return nil
        } catch {
            return error
        }
    }

    /// Whether method and target, of so many bytes, and version lie one behind the other, without
    /// anything between.
    func isFirstLine(of methodCount: Int, _ targetCount: Int) -> Bool {
        method + methodCount + 1 == target && target + targetCount + 1 == version
    }

    private func check(_ exchange: EventedExchange) throws(HeadFault) {
        let (method, target) = (exchange.method.utf8, exchange.target.utf8)
        guard method.allSatisfy(HeadCharacters.isOfToken) else { throw .method }
        guard !target.isEmpty, target.allSatisfy({ (0x21...0x7E).contains($0) }) else {
            throw .target
        }
        guard isFirstLine(of: method.count, target.count) else { throw .lines }
        var fields = RequestFields(line: version + Self.versionCount + Self.endCount)
        withUnsafeMutablePointer(to: &fields) { fields in
            _ = MHD_get_connection_values_n(
                exchange.connection.pointer, .HEADER_KIND, takeField,
                UnsafeMutableRawPointer(fields))
        }
        if let fault = fields.fault { throw fault }
        // Behind the last field is an empty line, where the library says that the head ends: it is
        // wrong where a line was folded.
        guard UnsafeRawPointer(fields.line + Self.endCount) == end, fields.line[0] == 0,
            fields.line[1] == 0
        else { throw .lines }
        let isOld = version[Self.versionCount - 1] == CChar(bitPattern: UInt8(ascii: "0"))
        try Self.check(fields, exchange, isOld: isOld)
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
