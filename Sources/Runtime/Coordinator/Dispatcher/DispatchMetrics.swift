import Model

/// Job metrics since the start.
struct DispatchMetrics: Sendable {
    /// How long canceled jobs kept their workers busy.
    var cancellations = CancellationLog()
    /// Latencies of transfer phases; phases that didn't occur are not counted.
    private(set) var transferTimes: [TransferPhase: LatencyHistogram] = [:]
    /// Wait and work times, indexed by raw value of the stage.
    private var times = JobStage.allCases.map { _ in StageTimes() }

    /// Latencies of one stage.
    struct StageTimes: Hashable, Sendable {
        /// Time until a worker received the job.
        var waits = LatencyHistogram()
        /// Work time as reported by workers.
        var works = LatencyHistogram()
    }

    /// Wait and work times of the jobs of the stage.
    func times(_ stage: JobStage) -> StageTimes { times[Int(stage.rawValue)] }

    /// Records the assignment of a job that had been waiting since `since`.
    mutating func assigned(_ stage: JobStage, since: Instant, at now: Instant) {
        times[Int(stage.rawValue)].waits.record(from: since, to: now)
    }

    /// Records the work time of a completed job that was still wanted. The reported time is capped
    /// at the time limit of a job.
    mutating func worked(_ stage: JobStage, microseconds: UInt64, atMost milliseconds: Int) {
        let limit = UInt64(max(0, milliseconds)) * 1_000
        times[Int(stage.rawValue)].works.record(microseconds: min(microseconds, limit))
    }

    /// Records the phases of a transfer. Reported times are capped at the time limit of a job.
    mutating func transferred(_ account: FetchAccount, atMost milliseconds: Int) {
        for phase in TransferPhase.allCases {
            guard let time = account.milliseconds(of: phase), time.isFinite else { continue }
            let trusted = min(time, Double(max(0, milliseconds)))
            transferTimes[phase, default: LatencyHistogram()].record(
                microseconds: UInt64(trusted * 1_000))
        }
    }
}

/// How long canceled jobs kept their workers busy: a published metric (SEMANTICS §8.8).
struct CancellationLog: Sendable {
    /// Cancellations per stage since the start.
    private(set) var stages: [JobStage: StatusReport.Cancellations] = [:]
    /// Workers that exited with a canceled job and have no successor yet, oldest first.
    private var ended: [PoolID: [(stage: JobStage, since: Instant)]] = [:]

    /// Further exits are not tracked: a pool that is never restarted must not distort the metric.
    private static let awaitedMax = 64

    /// Records the answer to a job that its worker was told to stop at `since`.
    mutating func answered(
        _ stage: JobStage, since: Instant, at now: Instant, isHard: Bool = false
    ) {
        let nanoseconds = max(now, since).nanoseconds - since.nanoseconds
        var known =
            stages[stage] ?? .init(stage: stage.name, hard: 0, durations: LatencyHistogram())
        known.durations.record(microseconds: nanoseconds / 1_000)
        if isHard { known.hard += 1 }
        stages[stage] = known
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
        answered(first.stage, since: first.since, at: now, isHard: true)
    }
}

// Current state for status reports.
extension Dispatcher {
    /// The number of jobs that wait, run, or were canceled but not answered yet.
    var jobCount: Int { jobs.count }

    /// The number of stage blocks with holds.
    var liveBlocks: Int { ledger.liveBlocks }

    /// Bytes of stage blocks in use that were produced by workers of a kind.
    func liveBytes(of kind: WorkerKind) -> UInt64 {
        limits.pools.pools(of: kind).reduce(0) { $0 + ledger.liveBytes(of: $1) }
    }

    /// Total capacity and current load of the workers of a kind.
    func credit(of kind: WorkerKind) -> WorkerCredit {
        limits.pools.pools(of: kind).reduce(into: WorkerCredit()) { all, pool in
            let credit = roster.credit(of: pool)
            all.window += credit.window
            all.held += credit.held
            all.heldLow += credit.heldLow
        }
    }

    /// Waiting jobs of a stage, their total cost, and the drain rate of the built-in pool in cost
    /// per second.
    func waiting(in stage: JobStage) -> (jobs: Int, cost: UInt64, perSecond: Double?) {
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
    var pools: [StatusReport.PoolStatus] {
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
    var running: [UInt64] {
        var running = JobStage.allCases.map { _ in UInt64(0) }
        for job in jobs.values where job.worker != nil { running[Int(job.stage.rawValue)] += 1 }
        return running
    }

    /// Whether there are no jobs and no blocks, and all derived counters are zero.
    var isIdle: Bool {
        jobs.isIdle && ledger.liveBlocks == 0 && pixelBytesApart == 0 && completions.count == 0
    }
}
