/// Bytes that an untrusted client sends on one connection, and the statuses that it receives.
///
/// `SMUGGLED` in them stands for a request that would reach the origin.
struct HostileRequest: Sendable {
    let name: String
    let bytes: [UInt8]
    /// The statuses of all responses, in order. A request after an invalid one isn't answered,
    /// since its connection is closed.
    let statuses: [Int]
    /// Whether the client closes its sending side, for requests of which the server expects more.
    let finishes: Bool

    private init(_ name: String, _ bytes: [UInt8], _ statuses: [Int], finishes: Bool) {
        (self.name, self.bytes, self.statuses) = (name, bytes, statuses)
        self.finishes = finishes
    }

    /// The bytes exactly as given.
    init(_ name: String, raw text: String, _ statuses: [Int], finishes: Bool = false) {
        self.init(name, Self.bytes(text), statuses, finishes: finishes)
    }

    /// A request line followed by the usual header fields, and then by a valid request that ends
    /// the connection.
    init(_ name: String, line: String, _ statuses: [Int]) {
        self.init(
            name, Self.bytes("\(line)\r\nHost: a\r\n\r\n" + Self.lastRequest), statuses,
            finishes: false)
    }

    /// A GET with this target.
    init(target: String, _ status: Int) {
        self.init(String(target.prefix(80)), line: "GET \(target) HTTP/1.1", [status, 200])
    }

    /// Header lines of a GET, each but the last with its line break, and the bytes after the head.
    init(_ name: String, fields: String, body: String = "", _ statuses: [Int]) {
        self.init(
            name,
            Self.bytes(
                "GET /live HTTP/1.1\r\nHost: a\r\n\(fields)\r\n\r\n\(body)" + Self.lastRequest),
            statuses, finishes: false)
    }

    /// Gets status 200, and then the connection closes.
    static let lastRequest = "GET /live HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n"

    /// One byte per character below 256, so that a table can contain arbitrary bytes.
    private static func bytes(_ text: String) -> [UInt8] {
        text.unicodeScalars.map { UInt8(truncatingIfNeeded: $0.value) }
    }

    /// The bytes with `SMUGGLED` replaced by a request for a path of the origin.
    func bytes(smuggling path: String) -> [UInt8] {
        let request = Array("GET \(path) HTTP/1.1\r\nHost: a\r\n\r\n".utf8)
        let mark = Array("SMUGGLED".utf8)
        guard let place = bytes.indices.first(where: { bytes[$0...].starts(with: mark) }) else {
            return bytes
        }
        return Array(bytes[..<place] + request + bytes[(place + mark.count)...])
    }
}
