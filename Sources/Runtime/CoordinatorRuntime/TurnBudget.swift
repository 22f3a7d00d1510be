import EventLoop
import Messages

/// How long a part of a turn may last: then everything else gets its own, and the rest goes on in
/// the next turn, which follows at once.
struct TurnBudget {
    /// Milliseconds for what waits at all listeners together. Operators, who are served first in
    /// each turn, wait for two of them at most, and for the event that is under way: no event does
    /// much, since what concerns many requests goes on from event to event.
    static let milliseconds = 20

    private let end: Instant
    private var unread = 0

    init(from now: Instant = .now(), milliseconds: Int = Self.milliseconds) {
        end = now.adding(milliseconds: milliseconds)
    }

    /// Whether the time is over, after a piece of work. The clock is read each time where that was
    /// `long`, else now and then: a hit takes 4 µs.
    mutating func isSpent(afterLong isLong: Bool = true) -> Bool {
        unread += 1
        guard isLong || unread >= Self.shortsMax else { return false }
        unread = 0
        return .now() >= end
    }

    private static let shortsMax = 16
}
