import Messages

extension Scheduler {
    /// What was done and what is at hand.
    public var report: SchedulerReport {
        var queued: [JobStage: Int] = [:]
        for job in jobs.values where job.worker == nil { queued[job.stage, default: 0] += 1 }
        return SchedulerReport(
            counters: counters, liveRequests: requests.count, liveJobs: jobs.count,
            queued: queued, liveBlocks: ledger.liveBlocks, hits: hits.count,
            quarantined: quarantine.count(at: now),
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

    /// Whether nothing is left of any request: no node, no job, no block, no list that grew.
    public var isIdle: Bool {
        requests.count == 0 && tokens.isEmpty && lookups.count == 0 && results.count == 0
            && decodes.count == 0 && sources.count == 0 && lookupTable.isEmpty
            && resultTable.isEmpty && decodeTable.isEmpty && sourceTable.isEmpty && jobs.isEmpty
            && ledger.liveBlocks == 0 && moving.count == 0
            && queues.allSatisfy { $0.count == 0 }
    }
}
