import Model
import Synchronization

/// Passes the newest reference from a writer thread to a reader thread.
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

    /// Waits until the reader has made that many valid copies in total, so that not every one is
    /// stale.
    func waitForReads(_ count: Int) {
        while state.withLock({ $0.reads < count }) {}
    }

    func finish() { state.withLock { $0.isFinished = true } }

    /// Waits for the first reference; `nil` once the writer has finished.
    func next() -> (BlockReference, UInt8)? {
        while true {
            let (latest, finished) = state.withLock { ($0.latest, $0.isFinished) }
            if finished { return nil }
            if let latest { return latest }
        }
    }
}
