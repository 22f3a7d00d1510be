package import Messages

/// What happened to jobs since the start.
package struct DispatchFigures: Sendable {
    /// By raw value of the stage.
    private var assigned = JobStage.allCases.map { _ in UInt64(0) }
    /// Jobs that began again, since a worker was lost or there was no space, and transfers that
    /// were tried again.
    package internal(set) var requeued: UInt64 = 0
    /// Transfers that were tried again after a failure of their origin.
    package internal(set) var retries: UInt64 = 0
    /// Workers that crashed with a job and said so.
    package internal(set) var crashes: UInt64 = 0
    /// What was refused since too much waits in a stage.
    package internal(set) var refused: [JobStage: UInt64] = [:]
    /// How long cancelled jobs kept their workers.
    package internal(set) var cancellations = CancellationLog()
    /// What workers said of transfers.
    package internal(set) var transfers = TransferFigures()
    /// How long jobs waited and worked, by raw value of the stage.
    private var times = JobStage.allCases.map { _ in StageTimes() }

    /// One stage.
    package struct StageTimes: Hashable, Sendable {
        /// Until a worker was given the job.
        package var waits = LatencyHistogram()
        /// As workers say.
        package var works = LatencyHistogram()
    }

    /// Jobs of the stage that were given to a worker, repeated attempts included.
    package func assigned(_ stage: JobStage) -> UInt64 { assigned[Int(stage.rawValue)] }

    /// How long jobs of the stage waited and worked.
    package func times(_ stage: JobStage) -> StageTimes { times[Int(stage.rawValue)] }

    /// A worker was given a job that had waited since then.
    mutating func assigned(_ stage: JobStage, since: Instant, at now: Instant) {
        assigned[Int(stage.rawValue)] += 1
        times[Int(stage.rawValue)].waits.record(from: since, to: now)
    }

    /// A worker answered a job that somebody still wanted. It is believed as far as a job may take.
    mutating func worked(_ stage: JobStage, microseconds: UInt64, atMost milliseconds: Int) {
        let limit = UInt64(max(0, milliseconds)) * 1_000
        times[Int(stage.rawValue)].works.record(microseconds: min(microseconds, limit))
    }
}
