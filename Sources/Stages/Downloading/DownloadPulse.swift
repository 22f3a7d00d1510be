public import Messages
import Synchronization

/// What the thread of a downloader is at, for whoever looks from another one.
///
/// A thread that stands in one turn for long does nothing for all the other transfers, and no
/// cancel reaches it.
public struct DownloadPulse: Hashable, Sendable {
    /// Counts turns; another one at each look, while the thread turns.
    public let turn: UInt64
    /// Whether it waits for something to do, which may last.
    public let isWaiting: Bool
    /// The job whose bytes are handled at the moment.
    public let job: JobID?
}

/// Where the loop writes its pulse.
final class LoopPulse: Sendable {
    /// Odd while the loop is at work.
    private let turns = Atomic<UInt64>(0)
    private let job = Atomic<UInt64>(0)

    func began() { turns.add(1, ordering: .releasing) }

    func waits() { turns.add(1, ordering: .releasing) }

    /// The bytes of a job are handled in `body`.
    func handling<Result, Failure>(
        _ id: JobID, _ body: () throws(Failure) -> Result
    ) throws(Failure) -> Result {
        job.store(id.value, ordering: .releasing)
        defer { job.store(0, ordering: .releasing) }
        return try body()
    }

    var now: DownloadPulse {
        let turn = turns.load(ordering: .acquiring)
        let job = job.load(ordering: .acquiring)
        return DownloadPulse(
            turn: turn, isWaiting: turn % 2 == 0, job: job == 0 ? nil : JobID(job))
    }
}
