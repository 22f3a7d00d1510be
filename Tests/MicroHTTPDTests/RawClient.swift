import Glibc

/// A TCP connection to a port of 127.0.0.1 that says what it is told and reads what comes.
struct RawClient: ~Copyable {
    private let socket: Int32

    /// Reads give up after this.
    private static let secondsMax = 20

    init(port: UInt16) throws(ConnectionRefused) {
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

    struct ConnectionRefused: Error {}

    func send(_ text: String) {
        let bytes = Array(text.utf8)
        _ = Glibc.send(socket, bytes, bytes.count, Int32(MSG_NOSIGNAL))
    }

    func get(_ target: String) { send("GET \(target) HTTP/1.1\r\nHost: a\r\n\r\n") }

    /// All bytes until the peer closes, the time is over, or `count` bytes of a body came.
    func response(bodyBytes count: Int = .max) -> Response {
        var bytes: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 1 << 16)
        while Response(bytes).body.count < count {
            let received = recv(socket, &buffer, buffer.count, 0)
            guard received > 0 else { break }
            bytes += buffer[..<received]
        }
        return Response(bytes)
    }

    /// What came, taken apart at the empty line.
    struct Response {
        var head: [String] = []
        var body: [UInt8] = []

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
