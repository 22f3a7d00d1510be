import Messages

/// How long jobs waited and worked since the start, by stage, and how long requests took.
struct StageLog: Sendable {
    /// One stage.
    struct Stage: Hashable, Sendable {
        var waits = LatencyHistogram()
        var works = LatencyHistogram()
    }

    private var stages = JobStage.allCases.map { _ in Stage() }
    private(set) var requests = LatencyHistogram()

    subscript(stage: JobStage) -> Stage { stages[Int(stage.rawValue)] }

    /// A worker was given a job that had waited since then.
    mutating func assigned(_ stage: JobStage, since: Instant, at now: Instant) {
        stages[Int(stage.rawValue)].waits.record(from: since, to: now)
    }

    /// A worker answered a job that somebody still wanted. It is believed as far as a job may take.
    mutating func worked(_ stage: JobStage, microseconds: UInt64, atMost milliseconds: Int) {
        let limit = UInt64(max(0, milliseconds)) * 1_000
        stages[Int(stage.rawValue)].works.record(microseconds: min(microseconds, limit))
    }

    /// A request that was admitted got its terminal reply.
    mutating func replied(since: Instant, at now: Instant) {
        requests.record(from: since, to: now)
    }
}
