import Messages
import Synchronization

/// The newest reference of a writer thread, for a reader thread.
final class LatestReference: Sendable {
    private struct State {
        var latest: (BlockReference, UInt8)?
        var isFinished = false
        var reads = 0
    }

    private let state = Mutex(State())

    func set(_ reference: BlockReference, _ byte: UInt8) {
        state.withLock { $0.latest = (reference, byte) }
    }

    func countRead() { state.withLock { $0.reads += 1 } }

    /// Lets the reader get that many whole copies in all, so that not every one is stale.
    func waitForReads(_ count: Int) {
        while state.withLock({ $0.reads < count }) {}
    }

    func finish() { state.withLock { $0.isFinished = true } }

    /// Waits for the first one; `nil` once the writer has finished.
    func next() -> (BlockReference, UInt8)? {
        while true {
            let (latest, finished) = state.withLock { ($0.latest, $0.isFinished) }
            if finished { return nil }
            if let latest { return latest }
        }
    }
}
