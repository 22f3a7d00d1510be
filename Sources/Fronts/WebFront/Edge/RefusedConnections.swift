package import Messages
package import MicroHTTPD

/// Counts connections that were closed at the limit of their address, for one line of the log in a
/// while. A value without a clock.
package struct RefusedConnections: Hashable, Sendable {
    /// All of them.
    package private(set) var total: UInt64 = 0
    private var isTold: UInt64 = 0
    private var last: PeerAddress?
    private var next: Instant?

    /// Milliseconds between two reports.
    private static let pauseMilliseconds = 10_000

    package init() {}

    /// One more was closed.
    package mutating func add(_ peer: PeerAddress) {
        total &+= 1
        last = peer
    }

    /// How many were closed since the last report, and the address of the last one; `nil` where
    /// none was, and where the last report is not long ago.
    package mutating func takeReport(at now: Instant) -> (count: UInt64, last: PeerAddress)? {
        guard total > isTold, let last, next.map({ now >= $0 }) ?? true else { return nil }
        defer { isTold = total }
        next = now.adding(milliseconds: Self.pauseMilliseconds)
        return (total - isTold, last)
    }
}
