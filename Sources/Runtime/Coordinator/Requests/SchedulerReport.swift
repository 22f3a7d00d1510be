package import Model

/// Metrics and current state of the scheduler, for status reports.
package struct SchedulerReport: Hashable, Sendable {
    /// Counters since the start.
    var counters: SchedulerCounters
    /// Requests without a terminal reply, including those of prefetches.
    var liveRequests: Int
    /// Unfinished prefetches, and their URLs that haven't been started.
    var prefetches: Int
    /// See `prefetches`.
    var waitingPrefetches: Int
    /// Jobs that wait, run, or were canceled but not answered yet.
    var liveJobs: Int
    /// Jobs waiting for a worker, for space or for a retry, by stage; stages without any are
    /// omitted.
    var queued: [JobStage: Queue]
    /// Capacity and load of the workers of each kind.
    var credits: [WorkerKind: Credit]
    /// All stages: waiting and running jobs, and latencies since the start.
    var stages: [StatusReport.StageStatus]
    /// Latencies of requests from admission to reply, excluding those answered from the hit index,
    /// which take no time.
    var requests: LatencyHistogram
    /// Stage blocks with holds.
    var liveBlocks: Int
    /// Entries of the memory tier that can be answered without asking the cache.
    var hits: Int
    /// The number of quarantined suspects.
    var quarantined: Int
    /// The number of entries in the failure cache.
    var blacklisted: Int
    /// Whether transfers are suspended.
    var hasSuspendedDownloads: Bool
    /// Bytes in use by the kind of worker that produced them.
    var liveBytes: [WorkerKind: UInt64]
    /// How long canceled jobs kept their workers busy, by stage.
    var cancellations: [StatusReport.Cancellations]
    /// All workers, oldest session first.
    package var workers: [Worker]
    /// All worker pools.
    var pools: [StatusReport.PoolStatus]
    /// Latencies of transfer phases.
    var transferTimes: [StatusReport.TransferTimes]
    /// Metrics of external caches, as status counters.
    var externalCaches: [StatusReport.Counter]

    /// The queue of one stage.
    struct Queue: Hashable, Sendable {
        /// The number of jobs.
        var jobs: Int
        /// Their total cost: 1 per fetch or query, 1 per 4 KiB of a store, the source bytes of a
        /// decode, the pixels of a transform times the class of its encoder.
        var cost: UInt64
        /// The drain rate in cost per second, measured while jobs waited; `nil` before the first
        /// measurement.
        var costPerSecond: Double?
    }

    /// The workers of one kind that accept jobs.
    struct Credit: Hashable, Sendable {
        /// The number of jobs they can hold.
        var window = 0
        /// The number of jobs they hold, including canceled ones.
        var held = 0
        /// Of these, jobs of class low.
        var heldLow = 0
    }

    /// The load of one worker.
    package struct Worker: Hashable, Sendable {
        /// The worker's session.
        package var id: WorkerID
        /// The worker's kind.
        var kind: WorkerKind
        /// The number of jobs that it holds, including canceled ones.
        var jobs: Int
        /// The number of jobs that it can hold.
        var window: Int
        /// Whether it accepts no more jobs.
        package var isDraining: Bool
    }
}

/// How a request ended, for the log of the coordinator.
package struct RequestRecord: Hashable, Sendable {
    /// The URL as written by the client, including secrets; log only `SourceURL.forLogs`.
    let url: String
    /// The number of attempts; more than one if a product was lost.
    let attempts: Int
    /// Further context for the log.
    let logContext: LogContext
    /// The terminal reply.
    let reply: Reply

    /// Creates the record of a load that is answered with `reply`.
    init(_ load: LoadRequest, attempts: Int = 1, _ reply: Reply) {
        self.init(url: load.image.url, attempts: attempts, load.logContext, reply)
    }

    init(url: String, attempts: Int, _ logContext: LogContext, _ reply: Reply) {
        self.url = url
        self.attempts = attempts
        self.logContext = logContext
        self.reply = reply
    }
}

extension Scheduler {
    /// The current report.
    package var report: SchedulerReport {
        SchedulerReport(
            counters: shared.counters, liveRequests: requests.count,
            prefetches: prefetching.batches.count,
            waitingPrefetches: prefetching.waiting,
            liveJobs: liveJobs, queued: queued, credits: credits, stages: stages,
            requests: times, liveBlocks: dispatcher.liveBlocks,
            hits: hits.count,
            quarantined: dispatcher.quarantined.count,
            blacklisted: hits.failureCache.live(at: now).count,
            hasSuspendedDownloads: dispatcher.transfers.isSuspended,
            liveBytes: Dictionary(
                uniqueKeysWithValues: WorkerKind.workers.map {
                    ($0, dispatcher.liveBytes(of: $0))
                }),
            cancellations: JobStage.allCases.compactMap { stage in
                dispatcher.metrics.cancellations.stages[stage].map {
                    StatusReport.Cancellations(
                        stage: stage.name, hard: $0.hard, durations: $0.durations)
                }
            },
            workers: dispatcher.workers.filter { $0.id != .coordinator }.map {
                id, worker in
                SchedulerReport.Worker(
                    id: id, kind: worker.kind, jobs: worker.jobs, window: worker.window,
                    isDraining: worker.isDraining)
            }, pools: dispatcher.pools, transferTimes: transferTimes,
            externalCaches: workGraph.compositeJobs.counters)
    }

    private var transferTimes: [StatusReport.TransferTimes] {
        let times = dispatcher.metrics.transferTimes
        return TransferPhase.allCases.compactMap { phase in
            times[phase].map {
                StatusReport.TransferTimes(phase: phase.rawValue, durations: $0)
            }
        }
    }

    /// The number of jobs that workers have or that wait for them.
    var liveJobs: Int { dispatcher.jobCount }

    private var stages: [StatusReport.StageStatus] {
        let running = dispatcher.running
        return JobStage.allCases.map { stage in
            let waiting = dispatcher.waiting(in: stage)
            let times = dispatcher.metrics.times(stage)
            return StatusReport.StageStatus(
                stage: stage.name, queued: UInt64(waiting.jobs), queuedCost: waiting.cost,
                running: running[Int(stage.rawValue)], waits: times.waits, works: times.works)
        }
    }

    private var queued: [JobStage: SchedulerReport.Queue] {
        var queued: [JobStage: SchedulerReport.Queue] = [:]
        for stage in JobStage.allCases {
            let waiting = dispatcher.waiting(in: stage)
            guard waiting.jobs > 0 else { continue }
            queued[stage] = SchedulerReport.Queue(
                jobs: waiting.jobs, cost: waiting.cost, costPerSecond: waiting.perSecond)
        }
        return queued
    }

    private var credits: [WorkerKind: SchedulerReport.Credit] {
        Dictionary(
            uniqueKeysWithValues: WorkerKind.workers.map { kind in
                let credit = dispatcher.credit(of: kind)
                return (
                    kind,
                    SchedulerReport.Credit(
                        window: credit.window, held: credit.held, heldLow: credit.heldLow)
                )
            })
    }

    /// Whether nothing is left of any request: no nodes, jobs, blocks, or list entries.
    package var isIdle: Bool {
        requests.count == 0 && tokens.isEmpty && pendingTransitions.isEmpty && prefetching.isEmpty
            && workGraph.isIdle
    }
}
