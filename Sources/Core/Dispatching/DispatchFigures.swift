package import Messages
import Tables

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

/// What download workers said of the transfers that brought a body, since the start.
package struct TransferFigures: Sendable {
    /// How long each phase took, where it took place.
    package private(set) var times: [TransferPhase: LatencyHistogram] = [:]
    /// Transfers, by version of HTTP; what is no version is `other`.
    package private(set) var versions: [String: UInt64] = [:]
    /// Transfers over a connection that was there before.
    package private(set) var reused: UInt64 = 0
    /// Bytes that came, content codings not undone.
    package private(set) var bytes: UInt64 = 0
    /// Redirects that were followed.
    package private(set) var redirects: UInt64 = 0
    /// How often a body broke off and went on.
    package private(set) var continuations: UInt64 = 0

    private static let knownVersions: Set = ["1.0", "1.1", "2", "3"]

    /// Counts one. The worker is believed as far as a job may take; what it names cannot grow.
    mutating func record(_ account: FetchAccount, atMost milliseconds: Int) {
        for phase in TransferPhase.allCases {
            guard let time = account.milliseconds(of: phase), time.isFinite else { continue }
            let believed = min(time, Double(max(0, milliseconds)))
            times[phase, default: LatencyHistogram()].record(
                microseconds: UInt64(believed * 1_000))
        }
        let version = account.httpVersion
        versions[Self.knownVersions.contains(version) ? version : "other", default: 0] += 1
        if account.isReused { reused += 1 }
        bytes &+= account.bytes
        redirects &+= UInt64(account.redirects)
        continuations &+= UInt64(account.continuations)
    }
}

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

// What is at hand, for status.
extension Dispatcher {
    /// Jobs that wait, run, or were cancelled and not answered yet.
    package var jobCount: Int { jobs.count }

    /// Blocks of stage arenas that somebody reads or keeps.
    package var liveBlocks: Int { ledger.liveBlocks }

    /// Bytes of stage blocks in use that workers of a kind made.
    package func liveBytes(of kind: WorkerKind) -> UInt64 {
        limits.pools.pools(of: kind).reduce(0) { $0 + ledger.liveBytes(of: $1) }
    }

    /// What the workers of a kind can do at a time, and how much of it they do.
    package func credit(of kind: WorkerKind) -> WorkerCredit {
        limits.pools.pools(of: kind).reduce(into: WorkerCredit()) { all, pool in
            let credit = roster.credit(of: pool)
            all.window += credit.window
            all.held += credit.held
            all.heldLow += credit.heldLow
        }
    }

    /// Jobs of a stage that wait, what they cost, and how fast that becomes less: in the pool that
    /// every stack has.
    package func waiting(in stage: JobStage) -> (jobs: Int, cost: UInt64, perSecond: Double?) {
        let all = jobs.loads.indices.filter { isOf(stage, load: $0) }.map { jobs.loads[$0] }
        return (
            all.reduce(0) { $0 + $1.jobs }, all.reduce(0) { $0 + $1.backlog },
            jobs.load(of: stage).drainRate
        )
    }

    private func isOf(_ stage: JobStage, load index: Int) -> Bool {
        guard index >= JobStage.allCases.count else { return index == Int(stage.rawValue) }
        // Of a kind that has further pools there is one stage.
        // Of caches of others the pools say what waits.
        return stage.kind != .cache
            && limits.pools.further[index - JobStage.allCases.count].kind == stage.kind
    }

    /// All pools of workers, for status.
    package var pools: [StatusReport.PoolStatus] {
        var waiting = limits.pools.all.map { _ in UInt64(0) }
        for job in jobs.values where job.isWaiting { waiting[job.pool.index] += 1 }
        return limits.pools.workers.map { id in
            let (pool, credit) = (limits.pools[id], roster.credit(of: id))
            return StatusReport.PoolStatus(
                name: pool.name, kind: pool.kind, isForeign: pool.trust == .foreign,
                workers: UInt32(clamping: roster.members(of: id).count),
                jobs: UInt32(clamping: credit.held), credit: UInt32(clamping: credit.window),
                queued: waiting[id.index], outputBytes: ledger.liveBytes(of: id),
                getsNoJob: pool.getsNoJob)
        }
    }

    /// Jobs at workers, by raw value of the stage.
    package var running: [UInt64] {
        var running = JobStage.allCases.map { _ in UInt64(0) }
        for job in jobs.values where job.worker != nil { running[Int(job.stage.rawValue)] += 1 }
        return running
    }

    /// All workers, the oldest session first.
    package var workers: [(id: WorkerID, worker: LiveWorker)] {
        roster.ids.compactMap { id in roster[id].map { (id, $0) } }
    }

    /// Whether there is no job and no block, and nothing is counted that was.
    package var isIdle: Bool {
        jobs.isIdle && ledger.liveBlocks == 0 && pixelBytesApart == 0 && completions.count == 0
    }
}
