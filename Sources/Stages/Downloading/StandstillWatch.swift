import Messages

/// Whether a transfer stands still, and is to be nudged (`TransferSet.nudge`).
///
/// libcurl 7.88 reads the streams of an HTTP/2 connection through one buffer. While the sink of one
/// postpones bytes, those of others wait behind them. What is to be read once that one is resumed,
/// libcurl notes at the connection, where another transfer may take the note; once that one is
/// ended, it notes nothing. The bytes are here then, the socket has none, and nobody reads them.
///
/// An origin that is only slow is nudged as well: that costs next to nothing, and gets rarer.
struct StandstillWatch {
    private var received: Int64
    private var milliseconds = Self.millisecondsMin
    /// When to look next.
    private(set) var due: Instant

    private static let millisecondsMin = 20
    private static let millisecondsMax = 1_000

    /// Of a transfer of which so many bytes have come at this moment.
    init(received: Int64, at now: Instant) {
        self.received = received
        due = now.adding(milliseconds: milliseconds)
    }

    /// Looks at it, once that is due: whether nothing came since the last look.
    mutating func isStill(received: Int64, at now: Instant) -> Bool {
        guard due <= now else { return false }
        let isStill = received == self.received
        milliseconds =
            isStill
            ? min(2 * milliseconds, Self.millisecondsMax) : Self.millisecondsMin
        self.received = received
        due = now.adding(milliseconds: milliseconds)
        return isStill
    }
}
