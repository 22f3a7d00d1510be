package import Messages
import Tables

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
