import Messages

extension Scheduler {
    /// What was done and what is at hand.
    public var report: SchedulerReport {
        SchedulerReport(
            counters: counters, liveRequests: requests.count, prefetches: batches.count,
            waitingPrefetches: prefetchers.values.reduce(0) { $0 + $1.waiting },
            liveJobs: jobs.count, queued: queued, credits: credits, stages: stages,
            requests: log.requests, liveBlocks: ledger.liveBlocks, hits: hits.count,
            quarantined: quarantine.count(at: now), blacklisted: blacklist.live(at: now).count,
            liveBytes: Dictionary(
                uniqueKeysWithValues: WorkerKind.workers.map { ($0, ledger.liveBytes(of: $0)) }),
            cancellations: JobStage.allCases.compactMap { stage in
                cancellations.stages[stage].map {
                    StatusReport.Cancellations(
                        stage: stage.name, hard: $0.hard, durations: $0.durations)
                }
            },
            workers: roster.ids.filter { $0 != .coordinator }.compactMap { id in
                roster[id].map {
                    SchedulerReport.Worker(
                        id: id, kind: $0.kind, jobs: $0.jobs, window: $0.window,
                        isDraining: $0.isDraining)
                }
            })
    }

    private var stages: [StatusReport.StageStatus] {
        var running: [JobStage: UInt64] = [:]
        for job in jobs.values where job.worker != nil { running[job.stage, default: 0] += 1 }
        return JobStage.allCases.map { stage in
            let load = loads[Int(stage.rawValue)]
            return StatusReport.StageStatus(
                stage: stage.name, queued: UInt64(load.jobs), queuedCost: load.backlog,
                running: running[stage] ?? 0, waits: log[stage].waits, works: log[stage].works)
        }
    }

    private var queued: [JobStage: SchedulerReport.Queue] {
        var queued: [JobStage: SchedulerReport.Queue] = [:]
        for stage in JobStage.allCases where loads[Int(stage.rawValue)].jobs > 0 {
            let load = loads[Int(stage.rawValue)]
            queued[stage] = SchedulerReport.Queue(
                jobs: load.jobs, cost: load.backlog, costPerSecond: load.drainRate)
        }
        return queued
    }

    private var credits: [WorkerKind: SchedulerReport.Credit] {
        Dictionary(
            uniqueKeysWithValues: WorkerKind.workers.map { kind in
                (kind, roster.credit(of: kind))
            })
    }

    /// Whether nothing is left of any request: no node, no job, no block, no list that grew.
    public var isIdle: Bool {
        requests.count == 0 && tokens.isEmpty && lookups.count == 0 && results.count == 0
            && decodes.count == 0 && sources.count == 0 && lookupTable.isEmpty
            && transcodes.count == 0 && resultTable.isEmpty && decodeTable.isEmpty
            && sourceTable.isEmpty && jobs.isEmpty
            && ledger.liveBlocks == 0 && overlayBytes.count == 0 && moving.count == 0
            && queues.allSatisfy { $0.isIdle }
            && loads.allSatisfy { $0.jobs == 0 && $0.backlog == 0 }
            && batches.count == 0 && batchTokens.isEmpty && awake.count == 0 && owing.isEmpty
            && bulk.count == 0
    }
}
