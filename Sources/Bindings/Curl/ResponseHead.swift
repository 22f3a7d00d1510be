/// Status and header fields of a response.
public struct ResponseHead: Hashable, Sendable {
    /// The status code.
    public let status: Int
    /// The fields in their order.
    public private(set) var fields: [Field] = []

    /// One header field.
    public struct Field: Hashable, Sendable {
        /// In lower case.
        public let name: String
        /// Without white space around it; bytes that are no UTF-8 are replaced.
        public let value: String

        /// A field of a response, as it is to be taken.
        public init(name: String, value: String) {
            (self.name, self.value) = (name.lowercased(), value)
        }
    }

    /// A head as somebody wants it to be taken.
    public init(status: Int, fields: [Field]) { (self.status, self.fields) = (status, fields) }

    /// From a status line, `HTTP/1.1 200 OK` or `HTTP/2 200`; nil for any other line.
    init?(statusLine line: UnsafeRawBufferPointer) {
        guard line.starts(with: "HTTP/".utf8) else { return nil }
        let parts = line.split(separator: UInt8(ascii: " "), maxSplits: 2)
        guard parts.count > 1 else { return nil }
        let digits = parts[1].prefix { (0x30...0x39).contains($0) }
        status = Int(String(decoding: digits, as: UTF8.self)) ?? 0
    }

    /// Adds the field of a line; a line without a colon adds nothing.
    mutating func append(line: UnsafeRawBufferPointer) {
        guard let colon = line.firstIndex(of: UInt8(ascii: ":")) else { return }
        let name = String(decoding: line[..<colon], as: UTF8.self).lowercased()
        fields.append(Field(name: name, value: Self.trimmed(line[(colon + 1)...])))
    }

    private static func trimmed(_ bytes: some BidirectionalCollection<UInt8>) -> String {
        let inner = bytes.drop(while: isSpace).reversed().drop(while: isSpace).reversed()
        return String(decoding: Array(inner), as: UTF8.self)
    }

    /// The first value of a field. The name is in lower case.
    public func value(_ name: String) -> String? {
        fields.first { $0.name == name }?.value
    }

    /// The elements of a field that is a list, of all its lines, in lower case and without empty
    /// ones (RFC 9110 §5.6.1). The name is in lower case.
    public func elements(_ name: String) -> [String] {
        fields.filter { $0.name == name }
            .flatMap { $0.value.split(separator: ",") }
            .map { Self.trimmed($0.utf8).lowercased() }
            .filter { !$0.isEmpty }
    }

    /// Whether the body is sent as it is or chunked, once: the one transfer coding that every
    /// recipient has to know and the only one that was asked for (RFC 9112 §7).
    var hasPlainFraming: Bool {
        value("transfer-encoding") == nil || elements("transfer-encoding") == ["chunked"]
    }

    /// What the origin says the body has, before any content coding is undone; a hint, never
    /// to be trusted. Nil where it says nothing, or nonsense.
    public var contentLength: Int? {
        value("content-length").flatMap { Int($0) }.flatMap { $0 >= 0 ? $0 : nil }
    }

    /// Whether the image is said to be at another location, which is named.
    public var isRedirect: Bool {
        (300..<400).contains(status) && !(value("location") ?? "").isEmpty
    }

    /// Whether a name and a password are asked for, as a digest (RFC 7616 §3.3).
    var asksForDigest: Bool {
        status == 401
            && fields.contains {
                $0.name == "www-authenticate" && $0.value.lowercased().hasPrefix("digest ")
            }
    }

    /// Whether another head of the same exchange follows (RFC 9110 §15.2).
    var isInterim: Bool { (100..<200).contains(status) }

    private static func isSpace(_ byte: UInt8) -> Bool {
        byte == 0x20 || (0x09...0x0D).contains(byte)
    }
}
