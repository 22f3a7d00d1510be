import Glibc

/// A raw TCP connection to a port of 127.0.0.1: sends what the test passes and reads the replies.
public struct RawClient: ~Copyable, Sendable {
    let socket: Int32

    /// The timeout of a read.
    private static let secondsMax = 60

    /// Connects; throws if nothing listens at the port. `lastByte` selects the source address
    /// 127.0.0.N; different addresses are different peers. `receiving` sets the receive buffer of
    /// the socket, in bytes (approximately).
    public init(
        port: UInt16, from lastByte: UInt8 = 1, receiving bytes: Int32? = nil
    ) throws(ConnectionRefused) {
        socket = Self.newSocket(AF_INET)
        if var bytes {
            setsockopt(
                socket, SOL_SOCKET, SO_RCVBUF, &bytes, socklen_t(MemoryLayout<Int32>.size))
        }
        let own = Self.withAddress(lastByte: lastByte, port: 0) { [socket] in
            lastByte == 1 ? 0 : bind(socket, $0, $1)
        }
        let status = Self.withAddress(lastByte: 1, port: port) { [socket] in
            connect(socket, $0, $1)
        }
        guard own == 0, status == 0 else {
            close(socket)
            throw ConnectionRefused()
        }
    }

    /// Connects to a Unix socket; throws if nothing listens there.
    public init(path: String) throws(ConnectionRefused) {
        socket = Self.newSocket(AF_UNIX)
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        withUnsafeMutableBytes(of: &address.sun_path) { place in
            place.copyBytes(from: path.utf8.prefix(place.count - 1))
        }
        let status = withUnsafePointer(to: &address) { [socket] pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                connect(socket, $0, socklen_t(MemoryLayout<sockaddr_un>.size))
            }
        }
        guard status == 0 else {
            close(socket)
            throw ConnectionRefused()
        }
    }

    private static func newSocket(_ family: Int32) -> Int32 {
        let kind = Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue)
        let socket = Glibc.socket(family, kind, 0)
        var limit = timeval(tv_sec: secondsMax, tv_usec: 0)
        setsockopt(
            socket, SOL_SOCKET, SO_RCVTIMEO, &limit, socklen_t(MemoryLayout<timeval>.size))
        return socket
    }

    private static func withAddress(
        lastByte: UInt8, port: UInt16,
        _ body: (UnsafePointer<sockaddr>, socklen_t) -> Int32
    ) -> Int32 {
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = port.bigEndian
        address.sin_addr.s_addr = (UInt32(0x7F00_0000) + UInt32(lastByte)).bigEndian
        return withUnsafePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                body($0, socklen_t(MemoryLayout<sockaddr_in>.size))
            }
        }
    }

    deinit { close(socket) }

    /// Nothing listens at the port.
    public struct ConnectionRefused: Error {}

    /// Sends a text without changes.
    public func send(_ text: String) { send(Array(text.utf8)) }

    /// Sends bytes without changes. If the peer stops reading, the rest is dropped.
    public func send(_ bytes: [UInt8]) {
        var sent = 0
        while sent < bytes.count {
            let count = bytes[sent...].withUnsafeBytes {
                Glibc.send(socket, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL))
            }
            guard count > 0 else { return }
            sent += count
        }
    }

    /// Closes the sending side.
    public func finish() { shutdown(socket, Int32(SHUT_WR)) }

    /// Makes closing the socket send a reset, even if data is still in flight.
    public func resetsAtItsEnd() {
        var now = linger(l_onoff: 1, l_linger: 0)
        setsockopt(socket, SOL_SOCKET, SO_LINGER, &now, socklen_t(MemoryLayout<linger>.size))
    }

    /// Sends a text repeatedly, with a pause after each. Returns whether the peer closes the
    /// connection within a minute.
    public func trickle(_ text: String) -> Bool {
        var byte: UInt8 = 0
        for _ in 0..<3_000 {
            send(text)
            guard Poll.wait([.readable(socket)], timeout: .milliseconds(20)) != nil else {
                continue
            }
            let count = recv(socket, &byte, 1, Int32(MSG_PEEK))
            if count <= 0 { return true }
            // The peer answered; the content doesn't matter.
            _ = some(of: 1 << 12)
        }
        return false
    }

    /// Reads `count` bytes at a time, with a pause after each read, until the peer closes the
    /// connection. Returns the total number of bytes.
    public func sip(atOnce count: Int) -> Int {
        var taken = 0
        while true {
            let bytes = some(of: count)
            if bytes.isEmpty { return taken }
            taken += bytes.count
            // The pace stays the same after the peer has closed: bytes sent before that are read
            // first.
            _ = Poll.wait([], timeout: .milliseconds(20))
        }
    }

    /// The bytes available at once, at most `count`; empty if the peer has closed the connection.
    public func some(of count: Int) -> [UInt8] {
        var buffer = [UInt8](repeating: 0, count: count)
        let received = recv(socket, &buffer, count, 0)
        return Array(buffer.prefix(max(0, received)))
    }

    /// All bytes until the peer closes the connection.
    public func everything() -> [UInt8] {
        var bytes: [UInt8] = []
        while true {
            let more = some(of: 1 << 16)
            if more.isEmpty { return bytes }
            bytes += more
        }
    }

    /// The response to a GET, on a connection of its own, to a port of 127.0.0.1.
    public static func get(
        _ target: String, _ port: UInt16, _ more: String = ""
    ) throws -> Response {
        let client = try RawClient(port: port)
        client.get(target, more)
        return client.whole()
    }

    /// Sends a GET request; `more` are further header lines, each with its line break.
    public func get(_ target: String, _ more: String = "") {
        send("GET \(target) HTTP/1.1\r\nHost: a\r\n\(more)\r\n")
    }

    /// All bytes until the peer closes, the read times out, or `count` bytes of a body have
    /// arrived.
    public func response(bodyBytes count: Int = .max) -> Response {
        response { $0.body.count >= count }
    }

    /// Reads one response, whose length its head states.
    public func whole() -> Response { response { $0.isWhole } }

    private func response(until isEnough: (Response) -> Bool) -> Response {
        var bytes: [UInt8] = []
        while !isEnough(Response(bytes)) {
            let more = some(of: 1 << 16)
            if more.isEmpty { break }
            bytes += more
        }
        return Response(bytes)
    }

    /// The received bytes, split at the empty line.
    public struct Response: Sendable {
        /// The status line and header lines.
        public private(set) var head: [String] = []
        /// The bytes after the head.
        public private(set) var body: [UInt8] = []

        /// The status code; 0 if there is none.
        public var status: Int {
            head.first?.split(separator: " ").dropFirst().first.flatMap { Int($0) } ?? 0
        }

        /// The value of a header field.
        public func field(_ name: String) -> String? {
            let prefix = name.lowercased() + ": "
            return head.first { $0.lowercased().hasPrefix(prefix) }
                .map { String($0.dropFirst(prefix.count)) }
        }

        /// The bytes after the head as text.
        public var text: String { String(decoding: body, as: UTF8.self) }

        var isWhole: Bool {
            guard !head.isEmpty else { return false }
            if status == 304 { return true }
            return body.count >= field("Content-Length").flatMap { Int($0) } ?? 0
        }

        /// Splits pipelined responses, whose lengths their heads state.
        public static func all(in bytes: [UInt8]) -> [Response] {
            var (rest, responses) = (bytes[...], [Response]())
            while rest.starts(with: "HTTP/".utf8) {
                var response = Response(Array(rest))
                guard response.status > 0 else { break }
                let isBare = response.status < 200 || response.status == 304
                let length = response.field("Content-Length").flatMap { Int($0) } ?? 0
                let count = isBare ? 0 : min(length, response.body.count)
                rest = rest.suffix(response.body.count - count)
                response.body = Array(response.body.prefix(count))
                responses.append(response)
            }
            return responses
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
