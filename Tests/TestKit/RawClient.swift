import Glibc

/// A TCP connection to a port of 127.0.0.1 that says what it is told and reads what comes.
public struct RawClient: ~Copyable {
    private let socket: Int32

    /// Reads give up after this.
    private static let secondsMax = 20

    /// Connects; throws where nobody listens.
    public init(port: UInt16) throws(ConnectionRefused) {
        socket = Glibc.socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        var limit = timeval(tv_sec: Self.secondsMax, tv_usec: 0)
        setsockopt(
            socket, SOL_SOCKET, SO_RCVTIMEO, &limit, socklen_t(MemoryLayout<timeval>.size))
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = port.bigEndian
        address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        let status = withUnsafePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                connect(socket, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
            }
        }
        guard status == 0 else {
            close(socket)
            throw ConnectionRefused()
        }
    }

    deinit { close(socket) }

    /// Nobody listens at the port.
    public struct ConnectionRefused: Error {}

    /// Says a text as it is.
    public func send(_ text: String) { send(Array(text.utf8)) }

    /// Says these bytes, as far as the peer takes them.
    public func send(_ bytes: [UInt8]) {
        var rest = bytes[...]
        while !rest.isEmpty {
            let count = rest.withUnsafeBytes {
                Glibc.send(socket, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL))
            }
            guard count > 0 else { return }
            rest = rest.dropFirst(count)
        }
    }

    /// Asks for a target; `more` are further header lines, each with its end.
    public func get(_ target: String, _ more: String = "") {
        send("GET \(target) HTTP/1.1\r\nHost: a\r\n\(more)\r\n")
    }

    /// All bytes until the peer closes, the time is over, or `count` bytes of a body came.
    public func response(bodyBytes count: Int = .max) -> Response {
        var bytes: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 1 << 16)
        while Response(bytes).body.count < count {
            let received = recv(socket, &buffer, buffer.count, 0)
            guard received > 0 else { break }
            bytes += buffer[..<received]
        }
        return Response(bytes)
    }

    /// One response as long as its head says.
    public func whole() -> Response {
        var bytes: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 1 << 16)
        while !Response(bytes).isWhole {
            let received = recv(socket, &buffer, buffer.count, 0)
            guard received > 0 else { break }
            bytes += buffer[..<received]
        }
        return Response(bytes)
    }

    /// What came, taken apart at the empty line.
    public struct Response: Sendable {
        /// The status line and header lines.
        public private(set) var head: [String] = []
        /// What follows them.
        public private(set) var body: [UInt8] = []

        /// The number of the status line; 0 where there is none.
        public var status: Int {
            head.first?.split(separator: " ").dropFirst().first.flatMap { Int($0) } ?? 0
        }

        /// The value of a header.
        public func field(_ name: String) -> String? {
            let prefix = name.lowercased() + ": "
            return head.first { $0.lowercased().hasPrefix(prefix) }
                .map { String($0.dropFirst(prefix.count)) }
        }

        var isWhole: Bool {
            guard !head.isEmpty else { return false }
            if status == 304 { return true }
            return body.count >= field("Content-Length").flatMap { Int($0) } ?? 0
        }

        init(_ bytes: [UInt8]) {
            let end = Array("\r\n\r\n".utf8)
            guard
                let start = bytes.indices.first(where: { bytes[$0...].starts(with: end) })
            else { return }
            head = String(decoding: bytes[..<start], as: UTF8.self)
                .split(separator: "\r\n").map(String.init)
            body = Array(bytes[(start + end.count)...])
        }
    }
}
