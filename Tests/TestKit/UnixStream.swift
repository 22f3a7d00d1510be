import Glibc

/// A connection to a Unix socket over which a test sends arbitrary bytes.
public final class UnixStream: Sendable {
    private let descriptor: Int32

    /// Connects; nil if nothing listens at the path.
    public init?(_ path: String) {
        let kind = Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue)
        descriptor = socket(AF_UNIX, kind, 0)
        precondition(descriptor >= 0, "socket: \(errno)")
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        precondition(path.utf8.count < 108, "the path of a socket has 107 bytes at most")
        withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: path.utf8) }
        let connected = withUnsafePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                connect(descriptor, $0, socklen_t(MemoryLayout<sockaddr_un>.size))
            }
        }
        if connected != 0 {
            close(descriptor)
            return nil
        }
    }

    deinit { close(descriptor) }

    /// Sends as much as the other side accepts; it may have closed the connection.
    public func send(_ bytes: [UInt8]) {
        var sent = 0
        while sent < bytes.count {
            let count = bytes.withUnsafeBytes {
                Glibc.send(
                    descriptor, $0.baseAddress.map { $0 + sent }, $0.count - sent,
                    Int32(MSG_NOSIGNAL))
            }
            guard count > 0 else { return }
            sent += count
        }
    }

    /// Reads and drops at least `count` bytes. Returns false if they don't arrive in time.
    public func skip(_ count: Int, within timeout: Duration = defaultTimeout) -> Bool {
        let deadline = ContinuousClock.now.advanced(by: timeout)
        var buffer = [UInt8](repeating: 0, count: 4096)
        var skipped = 0
        while skipped < count {
            let left = ContinuousClock.now.duration(to: deadline)
            guard Poll.wait([.readable(descriptor)], timeout: left) != nil else { return false }
            let read = recv(descriptor, &buffer, buffer.count, 0)
            guard read > 0 else { return false }
            skipped += read
        }
        return true
    }

    /// Reads and drops bytes until the other side closes. Returns false if it doesn't in time.
    public func isClosed(within timeout: Duration = defaultTimeout) -> Bool {
        let deadline = ContinuousClock.now.advanced(by: timeout)
        var buffer = [UInt8](repeating: 0, count: 4096)
        while ContinuousClock.now < deadline {
            let left = ContinuousClock.now.duration(to: deadline)
            guard Poll.wait([.readable(descriptor)], timeout: left) != nil else { return false }
            if recv(descriptor, &buffer, buffer.count, 0) <= 0 { return true }
        }
        return false
    }
}
