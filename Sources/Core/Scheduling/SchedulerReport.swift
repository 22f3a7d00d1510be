import ImageModel
public import Messages

/// What the scheduler has done and has at hand, for status.
public struct SchedulerReport: Hashable, Sendable {
    /// Since the start.
    public var counters: SchedulerCounters
    /// Requests without a terminal reply.
    public var liveRequests: Int
    /// Jobs that wait, run, or have been cancelled and not answered yet.
    public var liveJobs: Int
    /// Jobs that wait for a worker or for space, by stage.
    public var queued: [JobStage: Int]
    /// Blocks of stage arenas that somebody reads or keeps.
    public var liveBlocks: Int
    /// Entries of the memory tier that can be answered without asking the cache.
    public var hits: Int
    /// Content that is not tried for a while.
    public var quarantined: Int
    /// Bytes in use of what each kind of worker made.
    public var liveBytes: [WorkerKind: UInt64]
    /// How long cancelled jobs kept their workers, by stage.
    public var cancellations: [StatusReport.Cancellations]
    /// All workers, the oldest session first.
    public var workers: [Worker]

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

/// What happened, counted since the start.
public struct SchedulerCounters: Hashable, Sendable {
    /// Loads that came, refused ones included; resent ones are not counted again.
    public var requests: UInt64 = 0
    /// Requests answered from memory, by the coordinator or by the cache.
    public var memoryHits: UInt64 = 0
    /// Requests answered from disk.
    public var diskHits: UInt64 = 0
    /// Originals that the cache had.
    public var originalHits: UInt64 = 0
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
    /// Requests that joined work which was under way.
    public var coalesced: UInt64 = 0
    /// Jobs and requests that began again, since a worker was lost or there was no space.
    public var requeued: UInt64 = 0
    /// Workers that crashed with a job and said so.
    public var crashes: UInt64 = 0
    /// Requests refused since something was full; they count as failed, too.
    public var refusedBusy: UInt64 = 0

    /// All zero.
    public init() {}

    mutating func began(_ stage: JobStage) {
        switch stage {
        case .fetch: fetches += 1
        case .decode: decodes += 1
        case .transform: transforms += 1
        case .store: stores += 1
        case .query: break
        }
    }

    mutating func ended(with error: ImageError) {
        if error.code == .cancelled { cancelled += 1 } else { failed += 1 }
        if error.code == .busy { refusedBusy += 1 }
    }
}
