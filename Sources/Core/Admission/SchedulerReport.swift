import Derivation
import Dispatching
public import ImageModel
public import Messages
import Tables

/// What the scheduler has done and has now, for status.
public struct SchedulerReport: Hashable, Sendable {
    /// Since the start.
    public var counters: SchedulerCounters
    /// Requests without a terminal reply, those of prefetches included.
    public var liveRequests: Int
    /// Prefetches that have not ended, and their URLs that were not begun.
    public var prefetches: Int
    /// See `prefetches`.
    public var waitingPrefetches: Int
    /// Jobs that wait, run, or have been cancelled and not answered yet.
    public var liveJobs: Int
    /// What waits for a worker, for space or for another attempt, by stage; stages where nothing
    /// does are left out.
    public var queued: [JobStage: Queue]
    /// What the workers of each kind can do at a time, and how much of it they do.
    public var credits: [WorkerKind: Credit]
    /// All stages: what waits and runs now, and how long it took since the start.
    public var stages: [StatusReport.StageStatus]
    /// How long requests took from admission to reply; those that the hit index answered took no
    /// time and are not in it.
    public var requests: LatencyHistogram
    /// Blocks of stage arenas that somebody reads or keeps.
    public var liveBlocks: Int
    /// Entries of the memory tier that can be answered without asking the cache.
    public var hits: Int
    /// Content that is not tried for a while.
    public var quarantined: Int
    /// Sources that are refused for a while.
    public var blacklisted: Int
    /// Whether no transfer may begin.
    public var hasSuspendedDownloads: Bool
    /// Bytes in use of what each kind of worker made.
    public var liveBytes: [WorkerKind: UInt64]
    /// How long cancelled jobs kept their workers, by stage.
    public var cancellations: [StatusReport.Cancellations]
    /// All workers, the oldest session first.
    public var workers: [Worker]
    /// All pools of workers.
    public var pools: [StatusReport.PoolStatus]
    /// How long the phases of transfers took.
    public var transferTimes: [StatusReport.TransferTimes]
    /// What became of what caches of others were asked, as counters of the status.
    public var foreignCaches: [StatusReport.Counter]

    /// What waits in one stage.
    public struct Queue: Hashable, Sendable {
        /// Jobs.
        public var jobs: Int
        /// What they cost together: a fetch or query 1, cache work by 4 KiB, a decode by bytes
        /// of the source, a transform by pixels times the class of its encoder.
        public var cost: UInt64
        /// How fast that cost shrinks, measured while jobs waited; `nil` before it was measured.
        public var costPerSecond: Double?
    }

    /// The workers of one kind that take jobs.
    public struct Credit: Hashable, Sendable {
        /// Jobs that they take at a time.
        public var window = 0
        /// Jobs that they hold, cancelled ones included.
        public var held = 0
        /// Those among them of class low.
        public var heldLow = 0
    }

    /// One worker.
    public struct Worker: Hashable, Sendable {
        /// Its session.
        public var id: WorkerID
        /// Its kind.
        public var kind: WorkerKind
        /// Jobs that it holds, cancelled ones included.
        public var jobs: Int
        /// Jobs that it takes at a time.
        public var window: Int
        /// Whether it takes no more.
        public var isDraining: Bool
    }
}

/// Counters since the start.
public struct SchedulerCounters: Hashable, Sendable {
    /// Loads that came, refused ones included; resent ones are not counted again.
    public var requests: UInt64 = 0
    /// Requests answered from memory, by the coordinator or by the cache.
    public var memoryHits: UInt64 = 0
    /// Those among them that clients answered by vouchers, as far as they have told.
    public var voucherHits: UInt64 = 0
    /// Requests answered from disk.
    public var diskHits: UInt64 = 0
    /// Originals that the cache had.
    public var originalHits: UInt64 = 0
    /// Images that were made of what had arrived so far.
    public var partials: UInt64 = 0
    /// Requests answered with what was made of a cached original.
    public var originalUses: UInt64 = 0
    /// Requests for which no cache had anything, whether they were loaded then or not.
    public var misses: UInt64 = 0
    /// Transfers given to a worker, repeated attempts included; so with the next three.
    public var fetches: UInt64 = 0
    /// Decodes.
    public var decodes: UInt64 = 0
    /// Transforms.
    public var transforms: UInt64 = 0
    /// Stores and deliveries.
    public var stores: UInt64 = 0
    /// Requests that were cancelled, or whose client left.
    public var cancelled: UInt64 = 0
    /// Requests that ended with another error.
    public var failed: UInt64 = 0
    /// The same by the code of the error.
    public var failures: [ErrorCode: UInt64] = [:]
    /// What joined work that was under way.
    public var coalesced = Coalesced()
    /// Jobs and requests that began again, since a worker was lost or there was no space;
    /// and transfers that were tried again.
    public var requeued: UInt64 = 0
    /// Transfers that were tried again after a failure of their origin.
    public var retries: UInt64 = 0
    /// What workers said of the transfers that brought a body.
    public var transfers = Transfers()
    /// Requests refused since their source failed before; those without a fallback count as
    /// failed, too.
    public var blacklistRefusals: UInt64 = 0
    /// Requests answered with a fallback instead of their image.
    public var fallbacks: UInt64 = 0
    /// Workers that crashed with a job and said so.
    public var crashes: UInt64 = 0
    /// URLs of prefetches that ended by themselves, well or not; they count as requests, too.
    public var prefetched: UInt64 = 0
    /// Requests refused since something was full; they count as failed, too.
    public var refusedBusy: UInt64 = 0
    /// Those among them that were refused since too much waits in a stage, by stage.
    public var refused: [JobStage: UInt64] = [:]
    /// Requests whose deadline passed while no worker had what they waited for; they count as
    /// failed, too.
    public var expired: UInt64 = 0

    /// All zero.
    public init() {}

    /// Transfers that brought a body.
    public struct Transfers: Hashable, Sendable {
        /// How many, by version of HTTP.
        public var versions: [String: UInt64] = [:]
        /// Those over a connection that was there before.
        public var reused: UInt64 = 0
        /// Bytes that came, content codings not undone.
        public var bytes: UInt64 = 0
        /// Redirects that were followed.
        public var redirects: UInt64 = 0
        /// How often a body broke off and went on.
        public var continuations: UInt64 = 0

        /// All zero.
        public init() {}

        init(_ figures: TransferFigures) {
            versions = figures.versions
            reused = figures.reused
            bytes = figures.bytes
            redirects = figures.redirects
            continuations = figures.continuations
        }
    }

    /// What was counted of jobs.
    mutating func add(_ figures: DispatchFigures) {
        fetches += figures.assigned(.fetch)
        decodes += figures.assigned(.decode)
        transforms += figures.assigned(.transform)
        stores += figures.assigned(.store)
        requeued += figures.requeued
        retries += figures.retries
        transfers = Transfers(figures.transfers)
        crashes += figures.crashes
        refused.merge(figures.refused) { $0 + $1 }
    }

    /// What was joined, and found in the cache.
    mutating func add(_ figures: DerivationFigures) {
        coalesced.lookups += figures.joinedLookups
        coalesced.results += figures.joinedResults
        coalesced.decodes += figures.joinedDecodes
        coalesced.sources += figures.joinedSources
        originalHits += figures.originalHits
        partials += figures.partials
    }

    mutating func ended(with error: ImageError) {
        if error.code == .cancelled {
            cancelled += 1
        } else {
            failed += 1
            failures[error.code, default: 0] += 1
        }
        if error.code == .busy { refusedBusy += 1 }
    }
}

/// How often work was joined that was under way, by level (SEMANTICS §3.1).
public struct Coalesced: Hashable, Sendable {
    /// Requests that joined a query of their result's key.
    public var lookups: UInt64 = 0
    /// Requests that joined a result which was being made.
    public var results: UInt64 = 0
    /// Results that joined a decode.
    public var decodes: UInt64 = 0
    /// Decodes that joined a transfer, or a query of the original.
    public var sources: UInt64 = 0

    /// None.
    public init() {}

    /// Requests that joined anything.
    public var requests: UInt64 { lookups + results }
}

/// What happened to requests since the start.
struct RequestFigures: Sendable {
    var counters = SchedulerCounters()
    /// How long requests took.
    var times = LatencyHistogram()
}

/// How a request ended, for the log of the coordinator.
public struct RequestRecord: Hashable, Sendable {
    /// As the client wrote it, secrets included: only `SourceURL.forLogs` of it is for people.
    public let url: String
    /// How often it was begun: more than once where what was made for it was lost.
    public let attempts: Int
    /// What logs say of it besides.
    public let logContext: LogContext
    /// Its terminal reply.
    public let reply: Reply

    /// Describes the end of a load that is answered with `reply`.
    public init(_ load: LoadRequest, attempts: Int = 1, _ reply: Reply) {
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
