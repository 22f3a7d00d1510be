internal import CMicroHTTPD

/// Validates the head of a request in the connection's buffer after libmicrohttpd has read it.
///
/// libmicrohttpd 0.9.75 accepts lines that end with a bare LF, joins lines that begin with a space,
/// accepts spaces before a colon, ends values and lines at a zero byte, and uses the first of two
/// conflicting body lengths. A proxy in front may parse the same bytes as different requests, which
/// enables request smuggling (RFC 9112 §11.2). All of this is refused here, except a zero byte in
/// place of the CR before an LF, which can't be detected afterwards.
struct RequestHead {
    /// Pointers to the words of the first line.
    let method, target, version: UnsafePointer<CChar>
    /// The bytes from the version to the end of the empty line.
    let rest: UnsafeRawBufferPointer
    private var end: UnsafeRawPointer? { rest.baseAddress.map { $0 + rest.count } }

    /// Fails if libmicrohttpd doesn't report where the words and the head are.
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

    /// The length of a version such as `HTTP/1.1`; libmicrohttpd refuses all others.
    private static let versionCount = 8
    /// The length of CR and LF.
    private static let endCount = 2

    /// Returns why a request must be refused before its body is read, or `nil` if it's valid.
    func fault(of exchange: EventedExchange) -> HeadError? {
        do throws(HeadError) {
            try check(exchange)
            return nil
        } catch {
            return error
        }
    }

    /// Whether method, target (of the given lengths) and version follow each other, separated by
    /// one byte each.
    func isFirstLine(of methodCount: Int, _ targetCount: Int) -> Bool {
        method + methodCount + 1 == target && target + targetCount + 1 == version
    }

    private func check(_ exchange: EventedExchange) throws(HeadError) {
        let (method, target) = (exchange.method.utf8, exchange.target.utf8)
        guard method.allSatisfy(HeadCharacters.isOfToken) else { throw .method }
        guard !target.isEmpty, target.allSatisfy({ (0x21...0x7E).contains($0) }) else {
            throw .target
        }
        guard isFirstLine(of: method.count, target.count) else { throw .lines }
        var fields = RequestFields(line: version + Self.versionCount + Self.endCount)
        withUnsafeMutablePointer(to: &fields) { fields in
            _ = MHD_get_connection_values_n(
                exchange.connection.pointer, .HEADER_KIND, receiveField,
                UnsafeMutableRawPointer(fields))
        }
        if let fault = fields.fault { throw fault }
        // After the last field there is an empty line where libmicrohttpd reports the end of the
        // head. It's elsewhere if a line was folded.
        guard UnsafeRawPointer(fields.line + Self.endCount) == end, fields.line[0] == 0,
            fields.line[1] == 0
        else { throw .lines }
        let isOld = version[Self.versionCount - 1] == CChar(bitPattern: UInt8(ascii: "0"))
        try Self.check(fields, exchange, isOld: isOld)
    }

    /// - Parameter isOld: whether the request is HTTP/1.0.
    private static func check(
        _ fields: RequestFields, _ exchange: EventedExchange, isOld: Bool
    ) throws(HeadError) {
        guard fields.hosts == 1 || (isOld && fields.hosts == 0) else { throw .host }
        guard fields.lengths + fields.codings <= 1, !isOld || fields.codings == 0 else {
            throw .framing
        }
        guard fields.codings == 0 || fields.isChunked else { throw .coding }
        // If a client expects 100-continue without sending a body, which it must not
        // (RFC 9110 §10.1.1), libmicrohttpd takes the next request for the body.
        let hasBody = fields.length > 0 || fields.codings > 0
        guard !fields.isUnexpected, hasBody || !fields.waits else { throw .expectation }
        let bodyMax = exchange.server.limits.bodyBytes
        guard fields.length <= bodyMax, fields.codings == 0 || bodyMax > 0 else {
            throw .bodyTooLarge
        }
        if fields.codings > 0 { exchange.isLast = true }
    }
}

/// Called by libmicrohttpd for each field, in order.
private func receiveField(
    _ fields: UnsafeMutableRawPointer?, _: MHD_ValueKind, _ name: UnsafePointer<CChar>?,
    _ nameCount: Int, _ value: UnsafePointer<CChar>?, _ valueCount: Int
) -> MHD_Result {
    guard let fields = fields?.assumingMemoryBound(to: RequestFields.self), let name, let value
    else { return .NO }
    do throws(HeadError) {
        try fields.pointee.validate(
            UnsafeBufferPointer(start: name, count: nameCount),
            UnsafeBufferPointer(start: value, count: valueCount))
        return .YES
    } catch {
        fields.pointee.fault = error
        return .NO
    }
}

/// The fields of a head that matter before a request is handled.
struct RequestFields {
    /// Where the next line must begin.
    private(set) var line: UnsafePointer<CChar>
    /// Why the head is refused.
    var fault: HeadError?
    /// The number of Host, Content-Length and Transfer-Encoding fields.
    private(set) var (hosts, lengths, codings) = (0, 0, 0)
    /// The value of Content-Length; `.max` if it overflows.
    private(set) var length = 0
    /// Whether the body is chunked.
    private(set) var isChunked = false
    /// Whether an unsupported expectation is present, and whether the client waits for 100-continue
    /// before it sends the body.
    private(set) var (isUnexpected, waits) = (false, false)

    /// Creates a value for fields whose first line begins at `line`.
    init(line: UnsafePointer<CChar>) { self.line = line }

    /// Validates the next field. Its name and value must be in the next line, separated by a colon
    /// and white space.
    mutating func validate(
        _ name: UnsafeBufferPointer<CChar>, _ value: UnsafeBufferPointer<CChar>
    ) throws(HeadError) {
        guard let nameStart = name.baseAddress, let valueStart = value.baseAddress,
            nameStart == line, valueStart > nameStart + name.count
        else { throw .lines }
        line = valueStart + value.count + 2
        guard !name.isEmpty, name.allSatisfy({ HeadCharacters.isOfToken(UInt8(bitPattern: $0)) })
        else { throw .name }
        guard value.allSatisfy({ HeadCharacters.isOfValue(UInt8(bitPattern: $0)) }) else {
            throw .value
        }
        let end = value.lastIndex { $0 != 0x20 && $0 != 0x09 }.map { $0 + 1 } ?? 0
        try note(name, UnsafeBufferPointer(rebasing: value[..<end]))
    }

    private mutating func note(
        _ name: UnsafeBufferPointer<CChar>, _ value: UnsafeBufferPointer<CChar>
    ) throws(HeadError) {
        // Relevant names have one of these lengths, so that most fields are skipped quickly.
        switch name.count {
        case 4 where Self.isText(name, "host"):
            hosts += 1
            guard value.allSatisfy({ HeadCharacters.isOfHost(UInt8(bitPattern: $0)) }) else {
                throw .host
            }
        case 6 where Self.isText(name, "expect"):
            waits = true
            isUnexpected = isUnexpected || !Self.isText(value, "100-continue")
        case 14 where Self.isText(name, "content-length"):
            lengths += 1
            // libmicrohttpd has already refused values that contain anything but digits.
            length =
                Int(String(decoding: value.map(UInt8.init(bitPattern:)), as: UTF8.self)) ?? .max
        case 17 where Self.isText(name, "transfer-encoding"):
            codings += 1
            isChunked = Self.isText(value, "chunked")
        default: break
        }
    }

    /// Whether the bytes equal a lowercase text, ignoring case.
    private static func isText(
        _ bytes: UnsafeBufferPointer<CChar>, _ text: StaticString
    ) -> Bool {
        text.withUTF8Buffer { text in
            text.elementsEqual(bytes.lazy.map { HeadCharacters.lowercased(UInt8(bitPattern: $0)) })
        }
    }
}

/// Collects the lines of one field. They form a single value: the members of a list may be sent in
/// separate lines, and proxies do so (RFC 9110 §5.3). Several lines of a field that isn't a list
/// become a value with commas, which is invalid.
struct FieldLines {
    private let name: String
    /// The lines joined by commas, or by semicolons for cookies (RFC 6265 §4.2.1); `nil` if there
    /// is none.
    private(set) var value: String?

    /// Creates an empty collection for a field name.
    init(of name: String) { self.name = name }

    /// Adds a line of the head if it belongs to the field.
    mutating func append(
        _ name: UnsafeBufferPointer<CChar>, _ value: UnsafeBufferPointer<CChar>
    ) {
        let isName =
            name.count == self.name.utf8.count
            && zip(self.name.utf8, name).allSatisfy {
                HeadCharacters.lowercased($0) == HeadCharacters.lowercased(UInt8(bitPattern: $1))
            }
        guard isName else { return }
        let text = String(decoding: UnsafeRawBufferPointer(value), as: UTF8.self)
        let separator = self.name.lowercased() == "cookie" ? ";" : ","
        self.value = self.value.map { "\($0)\(separator) \(text)" } ?? text
    }
}

extension FieldLines {
    /// Returns the value of a field of a request that isn't over.
    static func value(of name: String, on connection: OpaquePointer) -> String? {
        // Most requested fields are absent, which this lookup finds out quickly.
        guard MHD_lookup_connection_value(connection, .HEADER_KIND, name) != nil else {
            return nil
        }
        var lines = FieldLines(of: name)
        withUnsafeMutablePointer(to: &lines) { lines in
            _ = MHD_get_connection_values_n(
                connection, .HEADER_KIND, receiveLine, UnsafeMutableRawPointer(lines))
        }
        return lines.value
    }
}

/// Called by libmicrohttpd for each field, in order.
private func receiveLine(
    _ lines: UnsafeMutableRawPointer?, _: MHD_ValueKind, _ name: UnsafePointer<CChar>?,
    _ nameCount: Int, _ value: UnsafePointer<CChar>?, _ valueCount: Int
) -> MHD_Result {
    guard let lines = lines?.assumingMemoryBound(to: FieldLines.self), let name, let value
    else { return .NO }
    lines.pointee.append(
        UnsafeBufferPointer(start: name, count: nameCount),
        UnsafeBufferPointer(start: value, count: valueCount))
    return .YES
}

/// The characters permitted in the parts of a head (RFC 9110 §5, RFC 3986 §3.2.2).
enum HeadCharacters {
    static func isOfToken(_ byte: UInt8) -> Bool {
        switch byte {
        case 0x30...0x39, 0x41...0x5A, 0x61...0x7A: true
        case 0x21, 0x23...0x27, 0x2A, 0x2B, 0x2D, 0x2E, 0x5E...0x60, 0x7C, 0x7E: true
        default: false
        }
    }

    /// Visible characters, spaces, tabs and non-ASCII bytes.
    static func isOfValue(_ byte: UInt8) -> Bool {
        (byte >= 0x20 && byte != 0x7F) || byte == 0x09
    }

    /// The characters of a host name or address with its port: no user, no path.
    static func isOfHost(_ byte: UInt8) -> Bool {
        switch byte {
        case 0x30...0x39, 0x41...0x5A, 0x61...0x7A: true
        // ! $ % & ' ( ) * + , - .
        case 0x21, 0x24...0x2E: true
        // : ; = [ ] _ ~
        case 0x3A, 0x3B, 0x3D, 0x5B, 0x5D, 0x5F, 0x7E: true
        default: false
        }
    }

    static func lowercased(_ byte: UInt8) -> UInt8 {
        (0x41...0x5A).contains(byte) ? byte | 0x20 : byte
    }
}

/// Why a request is refused that libmicrohttpd accepted, with a human-readable explanation. Its
/// connection is closed after the answer.
enum HeadError: String, Error {
    case target = "the request target contains characters other than visible ASCII"
    case method = "the method is not a valid token"
    case lines = "the header section has a line that does not end with CR LF, or a NUL byte"
    case name = "a field name is not a valid token"
    case value = "a field value contains control characters"
    case host = "exactly one Host field with one host is required"
    case framing = "conflicting fields for the body length"
    case coding = "the only supported transfer coding is chunked"
    case bodyTooLarge = "the body is too large"
    case expectation = "the only supported expectation is 100-continue with a body"

    private var status: UInt16 {
        switch self {
        case .coding: 501
        case .bodyTooLarge: 413
        case .expectation: 417
        default: 400
        }
    }

    /// The reply that refuses the request.
    var reply: HTTPReply {
        HTTPReply(
            status: status,
            headers: [
                ("Content-Type", "text/plain; charset=utf-8"),
                ("X-Content-Type-Options", "nosniff"), ("Cache-Control", "no-store"),
            ], body: .bytes(Array((rawValue + "\n").utf8)))
    }
}

/// The answer, as bytes, to a head that libmicrohttpd has read and refuses: there is no exchange
/// that could be answered.
enum RefusedHead {
    /// Returns the answer for the head's Content-Length value, if there is one. It has no body,
    /// since it's unknown whether the request is a HEAD.
    static func answer(length: String?) -> [UInt8] {
        Array(
            """
            HTTP/1.1 \(status(length: length))\r
            Cache-Control: no-store\r
            Connection: close\r
            Content-Length: 0\r
            \r

            """.utf8)
    }

    private static func status(length: String?) -> String {
        guard let length else { return "431 Request Header Fields Too Large" }
        guard !length.isEmpty, length.utf8.allSatisfy({ (0x30...0x39).contains($0) }) else {
            return "400 Bad Request"
        }
        let isTooLarge = UInt64(length).map { $0 == .max } ?? true
        return isTooLarge ? "413 Content Too Large" : "431 Request Header Fields Too Large"
    }
}

/// A byte-for-byte copy of the head of a request without a body, used to recognize a request that
/// was answered before.
///
/// An identical head passed validation then and isn't validated again. libmicrohttpd overwrites the
/// separators in a head with zeros, so that different heads may end up with the same bytes. Two
/// heads are therefore only equal if each word of the first line, each name and each value is at
/// the same offset.
public struct HeadCopy {
    let method: String
    let target: String
    private let fields: [FieldPlace]
    /// The bytes from the version to the end of the empty line.
    private let rest: [UInt8]

    init(_ head: RequestHead, _ method: String, _ target: String, on connection: OpaquePointer) {
        (self.method, self.target) = (method, target)
        rest = Array(head.rest)
        var walk = FieldWalk(from: head.version)
        walk.go(over: connection)
        fields = walk.places
    }

    /// The memory used in bytes.
    public var byteCount: Int {
        target.utf8.count + rest.count + fields.count * MemoryLayout<FieldPlace>.stride
            + MemoryLayout<HeadCopy>.size
    }

    func isSame(_ head: RequestHead, _ target: String, on connection: OpaquePointer) -> Bool {
        let methodCount = method.utf8.count
        // The known target is ASCII. A text that isn't may be canonically equivalent to it, so that
        // the strings compare as equal, but it's longer.
        guard head.isFirstLine(of: methodCount, self.target.utf8.count),
            strncmp(head.method, method, methodCount) == 0, self.target == target,
            isRest(head.rest)
        else { return false }
        var walk = FieldWalk(from: head.version, wanting: fields)
        walk.go(over: connection)
        return walk.isSame
    }

    private func isRest(_ bytes: UnsafeRawBufferPointer) -> Bool {
        guard rest.count == bytes.count, let start = bytes.baseAddress else { return false }
        return rest.withUnsafeBytes { memcmp($0.baseAddress ?? start, start, bytes.count) == 0 }
    }
}

/// The offsets of a field, relative to the version.
private struct FieldPlace: Equatable {
    let name, nameCount, value, valueCount: Int
}

/// Iterates over the fields of a head and records or compares their offsets.
private struct FieldWalk {
    private let start: Int
    private let wanted: [FieldPlace]?
    private var count = 0
    private var isOther = false
    private(set) var places: [FieldPlace] = []

    init(from version: UnsafePointer<CChar>, wanting wanted: [FieldPlace]? = nil) {
        (start, self.wanted) = (Int(bitPattern: version), wanted)
    }

    mutating func go(over connection: OpaquePointer) {
        withUnsafeMutablePointer(to: &self) { walk in
            _ = MHD_get_connection_values_n(
                connection, .HEADER_KIND, walkField, UnsafeMutableRawPointer(walk))
        }
    }

    /// Whether exactly the expected fields were found.
    var isSame: Bool { !isOther && count == wanted?.count }

    /// Records or compares a field. Returns whether to continue.
    mutating func record(_ place: (Int, Int, Int, Int)) -> Bool {
        let place = FieldPlace(
            name: place.0 - start, nameCount: place.1, value: place.2 - start,
            valueCount: place.3)
        guard let wanted else {
            places.append(place)
            return true
        }
        isOther = count >= wanted.count || wanted[count] != place
        count += 1
        return !isOther
    }
}

/// Called by libmicrohttpd for each field, in order.
private func walkField(
    _ walk: UnsafeMutableRawPointer?, _: MHD_ValueKind, _ name: UnsafePointer<CChar>?,
    _ nameCount: Int, _ value: UnsafePointer<CChar>?, _ valueCount: Int
) -> MHD_Result {
    guard let walk = walk?.assumingMemoryBound(to: FieldWalk.self) else { return .NO }
    let place = (Int(bitPattern: name), nameCount, Int(bitPattern: value), valueCount)
    return walk.pointee.record(place) ? .YES : .NO
}

extension EventedExchange {
    /// A copy of the head; `nil` if a body follows or the exchange has been answered.
    public var headCopy: HeadCopy? {
        guard standing == .reading || standing == .waiting, let head, !announcesBody else {
            return nil
        }
        return HeadCopy(head, method, target, on: connection.pointer)
    }

    /// Whether the exchange has the same head.
    public func has(_ copy: HeadCopy) -> Bool {
        guard standing == .reading, let head else { return false }
        return copy.isSame(head, target, on: connection.pointer)
    }
}
