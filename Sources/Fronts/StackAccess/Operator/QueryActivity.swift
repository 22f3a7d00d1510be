import Linux
import Synchronization

/// When a question that takes long was last seen to make progress. Any thread.
package final class QueryActivity: Sendable {
    private let last = Mutex(MonotonicClock.now())

    /// It begins now.
    package init() {}

    /// It has made progress.
    package func note() {
        let now = MonotonicClock.now()
        last.withLock { $0 = now }
    }

    /// Milliseconds since then.
    package var idleMilliseconds: Int {
        let now = MonotonicClock.now()
        return last.withLock { Int(clamping: (max(now, $0) - $0) / 1_000_000) }
    }
}
