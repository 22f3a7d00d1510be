import Derivation
import Dispatching
public import ImageModel
public import Messages

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
