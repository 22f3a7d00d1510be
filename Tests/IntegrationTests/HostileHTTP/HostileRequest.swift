/// Bytes that a stranger sends on one connection, and the statuses that come back on it.
///
/// `SMUGGLED` in them is a request that would reach the origin.
struct HostileRequest: Sendable {
    let name: String
    let bytes: [UInt8]
    /// Of all answers, in their order. What follows a request that is refused as such is not
    /// answered: its connection has ended.
    let statuses: [Int]
    /// Whether the stranger says that nothing more comes: where the server waits for more.
    let finishes: Bool

    private init(_ name: String, _ bytes: [UInt8], _ statuses: [Int], finishes: Bool) {
        (self.name, self.bytes, self.statuses) = (name, bytes, statuses)
        self.finishes = finishes
    }

    /// Bytes as they are.
    init(_ name: String, raw text: String, _ statuses: [Int], finishes: Bool = false) {
        self.init(name, Self.bytes(text), statuses, finishes: finishes)
    }

    /// A request line, and what a request usually says besides. A sound request that ends the
    /// connection follows.
    init(_ name: String, line: String, _ statuses: [Int]) {
        self.init(
            name, Self.bytes("\(line)\r\nHost: a\r\n\r\n" + Self.lastRequest), statuses,
            finishes: false)
    }

    /// The target of a GET.
    init(target: String, _ status: Int) {
        self.init(String(target.prefix(80)), line: "GET \(target) HTTP/1.1", [status, 200])
    }

    /// Header lines of a GET, each with its end but the last, and what follows the head.
    init(_ name: String, fields: String, body: String = "", _ statuses: [Int]) {
        self.init(
            name,
            Self.bytes(
                "GET /live HTTP/1.1\r\nHost: a\r\n\(fields)\r\n\r\n\(body)" + Self.lastRequest),
            statuses, finishes: false)
    }

    /// Answered 200, and then the connection ends.
    static let lastRequest = "GET /live HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n"

    /// The bytes of characters below 256: so that a table can have any.
    private static func bytes(_ text: String) -> [UInt8] {
        text.unicodeScalars.map { UInt8(truncatingIfNeeded: $0.value) }
    }

    /// With a path of the origin in its place.
    func bytes(smuggling path: String) -> [UInt8] {
        let request = Array("GET \(path) HTTP/1.1\r\nHost: a\r\n\r\n".utf8)
        let mark = Array("SMUGGLED".utf8)
        guard let place = bytes.indices.first(where: { bytes[$0...].starts(with: mark) }) else {
            return bytes
        }
        return Array(bytes[..<place] + request + bytes[(place + mark.count)...])
    }
}
