import Messages

/// Looks whether a transfer stands still, for a while after another one was resumed or ended early;
/// such a transfer is to be nudged (`TransferSet.nudge`).
///
/// libcurl 7.88 reads the streams of an HTTP/2 connection through one buffer. While the sink of one
/// postpones bytes, those of others wait behind them. What is to be read once that one is resumed,
/// libcurl notes at the connection, where another transfer may take the note; once that one is
/// ended, it notes nothing. The bytes are here then, the socket has none, and nobody reads them.
///
/// Nudges have limits, since each begins the time anew for which libcurl lets a transfer be slow:
/// what an origin is silent about still ends by that.
struct StandstillWatch {
    private var received: Int64
    private var milliseconds = Self.millisecondsMin
    /// Looks until the next disturbance.
    private var looksLeft = Self.looksMax
    /// Nudges that are left while nothing comes, and in all.
    private var nudgesLeft = Self.looksMax
    private var nudgesLeftInAll = Self.nudgesMax
    private var next: Instant

    /// The first look is after 20 ms, each later one after twice as long: all within 1.3 s.
    static let millisecondsMin = 20
    static let looksMax = 6
    static let nudgesMax = 30

    /// Of a transfer of which so many bytes have come, when another one was resumed or ended early.
    init(received: Int64, at now: Instant) {
        self.received = received
        next = now.adding(milliseconds: milliseconds)
    }

    /// When to look next; `nil` where that is over.
    var due: Instant? { looksLeft > 0 && nudgesLeftInAll > 0 ? next : nil }

    /// Another one was resumed or ended early again. A look that is due before stays where it is.
    mutating func disturb(at now: Instant) {
        next =
            due.map { min($0, now.adding(milliseconds: Self.millisecondsMin)) }
            ?? now.adding(milliseconds: Self.millisecondsMin)
        (looksLeft, milliseconds) = (Self.looksMax, Self.millisecondsMin)
    }

    /// A look that was due: whether the transfer is to be nudged.
    mutating func look(received: Int64, at now: Instant) -> Bool {
        looksLeft -= 1
        milliseconds *= 2
        next = now.adding(milliseconds: milliseconds)
        guard received == self.received else {
            (self.received, nudgesLeft) = (received, Self.looksMax)
            return false
        }
        guard nudgesLeft > 0 else { return false }
        nudgesLeft -= 1
        nudgesLeftInAll -= 1
        return true
    }
}
