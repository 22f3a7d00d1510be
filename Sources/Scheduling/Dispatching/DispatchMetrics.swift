package import Model

/// Job metrics since the start.
package struct DispatchMetrics: Sendable {
    /// Indexed by raw value of the stage.
    private var assigned = JobStage.allCases.map { _ in UInt64(0) }
    /// Jobs that were restarted because a worker was lost or space was missing, and retried
    /// transfers.
    package internal(set) var requeued: UInt64 = 0
    /// Transfers retried after a failure of the origin.
    package internal(set) var retries: UInt64 = 0
    /// Workers that crashed with a job and left a crash record.
    package internal(set) var crashes: UInt64 = 0
    /// Loads refused because a stage had too much queued work.
    package internal(set) var refused: [JobStage: UInt64] = [:]
    /// How long canceled jobs kept their workers busy.
    package internal(set) var cancellations = CancellationLog()
    /// Transfer metrics reported by workers.
    package internal(set) var transfers = TransferMetrics()
    /// Wait and work times, indexed by raw value of the stage.
    private var times = JobStage.allCases.map { _ in StageTimes() }

    /// Latencies of one stage.
    package struct StageTimes: Hashable, Sendable {
        /// Time until a worker received the job.
        package var waits = LatencyHistogram()
        /// Work time as reported by workers.
        package var works = LatencyHistogram()
    }

    /// The number of jobs of the stage assigned to workers, including repeated attempts.
    package func assigned(_ stage: JobStage) -> UInt64 { assigned[Int(stage.rawValue)] }

    /// Wait and work times of the jobs of the stage.
    package func times(_ stage: JobStage) -> StageTimes { times[Int(stage.rawValue)] }

    /// Records the assignment of a job that had been waiting since `since`.
    mutating func assigned(_ stage: JobStage, since: Instant, at now: Instant) {
        assigned[Int(stage.rawValue)] += 1
        times[Int(stage.rawValue)].waits.record(from: since, to: now)
    }

    /// Records the work time of a completed job that was still wanted. The reported time is capped
    /// at the time limit of a job.
    mutating func worked(_ stage: JobStage, microseconds: UInt64, atMost milliseconds: Int) {
        let limit = UInt64(max(0, milliseconds)) * 1_000
        times[Int(stage.rawValue)].works.record(microseconds: min(microseconds, limit))
    }
}

/// Metrics of transfers that delivered a body, as reported by download workers since the start.
package struct TransferMetrics: Sendable {
    /// Latencies by transfer phase; phases that didn't occur are not counted.
    package private(set) var times: [TransferPhase: LatencyHistogram] = [:]
    /// Number of transfers by HTTP version; unknown versions count as `other`.
    package private(set) var versions: [String: UInt64] = [:]
    /// Transfers over a reused connection.
    package private(set) var reused: UInt64 = 0
    /// Bytes received, before content decoding.
    package private(set) var bytes: UInt64 = 0
    package private(set) var redirects: UInt64 = 0
    /// Interrupted bodies that were resumed.
    package private(set) var continuations: UInt64 = 0

    private static let knownVersions: Set = ["1.0", "1.1", "2", "3"]

    /// Records a transfer. Reported times are capped at the time limit of a job, and unknown
    /// version names are merged so that the table can't grow.
    mutating func record(_ account: FetchAccount, atMost milliseconds: Int) {
        for phase in TransferPhase.allCases {
            guard let time = account.milliseconds(of: phase), time.isFinite else { continue }
            let trusted = min(time, Double(max(0, milliseconds)))
            times[phase, default: LatencyHistogram()].record(
                microseconds: UInt64(trusted * 1_000))
        }
        let version = account.httpVersion
        versions[Self.knownVersions.contains(version) ? version : "other", default: 0] += 1
        if account.isReused { reused += 1 }
        bytes &+= account.bytes
        redirects &+= UInt64(account.redirects)
        continuations &+= UInt64(account.continuations)
    }
}

/// How long canceled jobs kept their workers busy: a published metric (SEMANTICS §8.8).
package struct CancellationLog: Sendable {
    /// Cancellations of one stage since the start.
    package struct Stage: Hashable, Sendable {
        package var hard: UInt64 = 0
        package var durations = LatencyHistogram()
    }

    package private(set) var stages: [JobStage: Stage] = [:]
    /// Workers that exited with a canceled job and have no successor yet, oldest first.
    private var ended: [PoolID: [(stage: JobStage, since: Instant)]] = [:]

    /// Further exits are not tracked: a pool that is never restarted must not distort the metric.
    private static let awaitedMax = 64

    /// Records the answer to a job that its worker was told to stop at `since`.
    mutating func answered(_ stage: JobStage, since: Instant, at now: Instant) {
        let nanoseconds = max(now, since).nanoseconds - since.nanoseconds
        stages[stage, default: Stage()].durations.record(microseconds: nanoseconds / 1_000)
    }

    /// Records that the worker exited instead of answering.
    mutating func ended(_ pool: PoolID, with stage: JobStage, since: Instant) {
        guard ended[pool, default: []].count < Self.awaitedMax else { return }
        ended[pool, default: []].append((stage, since))
    }

    /// Records that a worker joined, as the successor of the oldest exited one.
    mutating func joined(_ pool: PoolID, at now: Instant) {
        guard let first = ended[pool]?.first else { return }
        ended[pool]?.removeFirst()
        stages[first.stage, default: Stage()].hard += 1
        answered(first.stage, since: first.since, at: now)
    }
}

// Current state for status reports.
extension Dispatcher {
    /// The number of jobs that wait, run, or were canceled but not answered yet.
    package var jobCount: Int { jobs.count }

    /// The number of stage blocks with holds.
    package var liveBlocks: Int { ledger.liveBlocks }

    /// Bytes of stage blocks in use that were produced by workers of a kind.
    package func liveBytes(of kind: WorkerKind) -> UInt64 {
        limits.pools.pools(of: kind).reduce(0) { $0 + ledger.liveBytes(of: $1) }
    }

    /// Total capacity and current load of the workers of a kind.
    package func credit(of kind: WorkerKind) -> WorkerCredit {
        limits.pools.pools(of: kind).reduce(into: WorkerCredit()) { all, pool in
            let credit = roster.credit(of: pool)
            all.window += credit.window
            all.held += credit.held
            all.heldLow += credit.heldLow
        }
    }

    /// Waiting jobs of a stage, their total cost, and the drain rate of the built-in pool in cost
    /// per second.
    package func waiting(in stage: JobStage) -> (jobs: Int, cost: UInt64, perSecond: Double?) {
        let all = jobs.loads.indices.filter { isOf(stage, load: $0) }.map { jobs.loads[$0] }
        return (
            all.reduce(0) { $0 + $1.jobs }, all.reduce(0) { $0 + $1.backlog },
            jobs.load(of: stage).drainRate
        )
    }

    private func isOf(_ stage: JobStage, load index: Int) -> Bool {
        guard index >= JobStage.allCases.count else { return index == Int(stage.rawValue) }
        // A kind with additional pools has only one stage. The waiting jobs of external caches are
        // reported per pool.
        return stage.kind != .cache
            && limits.pools.further[index - JobStage.allCases.count].kind == stage.kind
    }

    /// The status of all worker pools.
    package var pools: [StatusReport.PoolStatus] {
        var waiting = limits.pools.all.map { _ in UInt64(0) }
        for job in jobs.values where job.isWaiting { waiting[job.pool.index] += 1 }
        return limits.pools.workers.map { id in
            let (pool, credit) = (limits.pools[id], roster.credit(of: id))
            return StatusReport.PoolStatus(
                name: pool.name, kind: pool.kind, isExternal: pool.trust == .external,
                workers: UInt32(clamping: roster.members(of: id).count),
                jobs: UInt32(clamping: credit.held), credit: UInt32(clamping: credit.window),
                queued: waiting[id.index], outputBytes: ledger.liveBytes(of: id),
                getsNoJob: pool.getsNoJob)
        }
    }

    /// The number of jobs at workers, indexed by raw value of the stage.
    package var running: [UInt64] {
        var running = JobStage.allCases.map { _ in UInt64(0) }
        for job in jobs.values where job.worker != nil { running[Int(job.stage.rawValue)] += 1 }
        return running
    }

    /// All workers, oldest session first.
    package var workers: [(id: WorkerID, worker: LiveWorker)] {
        roster.ids.compactMap { id in roster[id].map { (id, $0) } }
    }

    /// Whether there are no jobs and no blocks, and all derived counters are zero.
    package var isIdle: Bool {
        jobs.isIdle && ledger.liveBlocks == 0 && pixelBytesApart == 0 && completions.count == 0
    }
}
