package import Messages
import Tables

// What is at hand, for status.
extension Dispatcher {
    /// Jobs that wait, run, or were cancelled and not answered yet.
    package var jobCount: Int { jobs.count }

    /// Blocks of stage arenas that somebody reads or keeps.
    package var liveBlocks: Int { ledger.liveBlocks }

    /// Bytes of stage blocks in use that workers of a kind made.
    package func liveBytes(of kind: WorkerKind) -> UInt64 { ledger.liveBytes(of: kind) }

    /// What the workers of a kind can do at a time, and how much of it they do.
    package func credit(of kind: WorkerKind) -> WorkerCredit { roster.credit(of: kind) }

    /// Jobs of a stage that wait, what they cost, and how fast that becomes less.
    package func waiting(in stage: JobStage) -> (jobs: Int, cost: UInt64, perSecond: Double?) {
        let load = loads[Int(stage.rawValue)]
        return (load.jobs, load.backlog, load.drainRate)
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
        jobs.isEmpty && ledger.liveBlocks == 0 && pixelBytesApart == 0 && completions.count == 0
            && queues.allSatisfy { $0.isIdle }
            && loads.allSatisfy { $0.jobs == 0 && $0.backlog == 0 }
    }
}
