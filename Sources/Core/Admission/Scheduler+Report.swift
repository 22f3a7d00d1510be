import Derivation
import Dispatching
import Messages
import Tables

extension Scheduler {
    /// What was done so far, and what there is now.
    public var report: SchedulerReport {
        SchedulerReport(
            counters: allCounters, liveRequests: requests.count,
            prefetches: prefetching.batches.count,
            waitingPrefetches: prefetching.waiting,
            liveJobs: liveJobs, queued: queued, credits: credits, stages: stages,
            requests: figures.times, liveBlocks: deriver.dispatcher.liveBlocks,
            hits: hits.count,
            quarantined: deriver.dispatcher.quarantined.count,
            blacklisted: hits.denyList.live(at: now).count,
            hasSuspendedDownloads: deriver.dispatcher.transfers.isSuspended,
            liveBytes: Dictionary(
                uniqueKeysWithValues: WorkerKind.workers.map {
                    ($0, deriver.dispatcher.liveBytes(of: $0))
                }),
            cancellations: JobStage.allCases.compactMap { stage in
                deriver.dispatcher.figures.cancellations.stages[stage].map {
                    StatusReport.Cancellations(
                        stage: stage.name, hard: $0.hard, durations: $0.durations)
                }
            },
            workers: deriver.dispatcher.workers.filter { $0.id != .coordinator }.map { id, worker in
                SchedulerReport.Worker(
                    id: id, kind: worker.kind, jobs: worker.jobs, window: worker.window,
                    isDraining: worker.isDraining)
            }, pools: deriver.dispatcher.pools, transferTimes: transferTimes,
            foreignCaches: deriver.foreignCacheCounters)
    }

    private var transferTimes: [StatusReport.TransferTimes] {
        let times = deriver.dispatcher.figures.transfers.times
        return TransferPhase.allCases.compactMap { phase in
            times[phase].map {
                StatusReport.TransferTimes(phase: phase.rawValue, durations: $0)
            }
        }
    }

    /// Jobs that workers have, or that wait for them.
    public var liveJobs: Int { deriver.dispatcher.jobCount }

    /// What was counted of requests and of jobs.
    private var allCounters: SchedulerCounters {
        var counters = figures.counters
        counters.add(deriver.dispatcher.figures)
        counters.add(deriver.figures)
        return counters
    }

    private var stages: [StatusReport.StageStatus] {
        let running = deriver.dispatcher.running
        return JobStage.allCases.map { stage in
            let waiting = deriver.dispatcher.waiting(in: stage)
            let times = deriver.dispatcher.figures.times(stage)
            return StatusReport.StageStatus(
                stage: stage.name, queued: UInt64(waiting.jobs), queuedCost: waiting.cost,
                running: running[Int(stage.rawValue)], waits: times.waits, works: times.works)
        }
    }

    private var queued: [JobStage: SchedulerReport.Queue] {
        var queued: [JobStage: SchedulerReport.Queue] = [:]
        for stage in JobStage.allCases {
            let waiting = deriver.dispatcher.waiting(in: stage)
            guard waiting.jobs > 0 else { continue }
            queued[stage] = SchedulerReport.Queue(
                jobs: waiting.jobs, cost: waiting.cost, costPerSecond: waiting.perSecond)
        }
        return queued
    }

    private var credits: [WorkerKind: SchedulerReport.Credit] {
        Dictionary(
            uniqueKeysWithValues: WorkerKind.workers.map { kind in
                let credit = deriver.dispatcher.credit(of: kind)
                return (
                    kind,
                    SchedulerReport.Credit(
                        window: credit.window, held: credit.held, heldLow: credit.heldLow)
                )
            })
    }

    /// Whether nothing is left of any request: no node, no job, no block, no list that grew.
    public var isIdle: Bool {
        requests.count == 0 && tokens.isEmpty && agenda.isEmpty && prefetching.isEmpty
            && deriver.isIdle
    }
}
