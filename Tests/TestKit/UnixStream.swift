/// A connection to a Unix socket over which a test sends arbitrary bytes.
public final class UnixStream: Sendable {
    private let client: RawClient

    /// Connects; nil if nothing listens at the path.
    public init?(_ path: String) {
        guard let client = try? RawClient(path: path) else { return nil }
        self.client = client
    }

    /// Sends as much as the other side accepts; it may have closed the connection.
    public func send(_ bytes: [UInt8]) { client.send(bytes) }

    /// Reads and drops at least `count` bytes. Returns false if they don't arrive in time.
    public func skip(_ count: Int, within timeout: Duration = defaultTimeout) -> Bool {
        var left = count
        return drop(within: timeout) { read in
            left -= read
            return read == 0 || left <= 0
        } && left <= 0
    }

    /// Reads and drops bytes until the other side closes. Returns false if it doesn't in time.
    public func isClosed(within timeout: Duration = defaultTimeout) -> Bool {
        drop(within: timeout) { $0 == 0 }
    }

    /// Reads until `isEnough`, which gets the number of bytes of each read; 0 is the end. Returns
    /// false on timeout.
    private func drop(within timeout: Duration, until isEnough: (Int) -> Bool) -> Bool {
        let deadline = ContinuousClock.now.advanced(by: timeout)
        while true {
            let left = ContinuousClock.now.duration(to: deadline)
            guard Poll.wait([.readable(client.socket)], timeout: left) != nil else { return false }
            if isEnough(client.some(of: 4_096).count) { return true }
        }
    }
}
