package import Messages

/// How long cancelled jobs kept their workers: the figure that is published (SEMANTICS §8.8).
package struct CancellationLog: Sendable {
    /// One stage since the start.
    package struct Stage: Hashable, Sendable {
        package var hard: UInt64 = 0
        package var durations = LatencyHistogram()
    }

    package private(set) var stages: [JobStage: Stage] = [:]
    /// Workers that ended with a cancelled job and whose successor is not there yet; the oldest
    /// first.
    private var ended: [PoolID: [(stage: JobStage, since: Instant)]] = [:]

    /// Beyond it a successor is no longer awaited: a pool that is not started again is no figure.
    private static let awaitedMax = 64

    /// A worker answered a job that it was told to stop at `since`.
    mutating func answered(_ stage: JobStage, since: Instant, at now: Instant) {
        let nanoseconds = max(now, since).nanoseconds - since.nanoseconds
        stages[stage, default: Stage()].durations.record(microseconds: nanoseconds / 1_000)
    }

    /// A worker ended instead.
    mutating func ended(_ pool: PoolID, with stage: JobStage, since: Instant) {
        guard ended[pool, default: []].count < Self.awaitedMax else { return }
        ended[pool, default: []].append((stage, since))
    }

    /// A worker came: the place of one that ended is filled.
    mutating func joined(_ pool: PoolID, at now: Instant) {
        guard let first = ended[pool]?.first else { return }
        ended[pool]?.removeFirst()
        stages[first.stage, default: Stage()].hard += 1
        answered(first.stage, since: first.since, at: now)
    }
}
