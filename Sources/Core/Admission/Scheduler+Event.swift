public import ImageModel
public import Messages

/// What happens to the scheduler. The runtime turns messages, connections and the clock into these.
public indirect enum SchedulerEvent: Hashable, Sendable {
    /// A client was welcomed. The number of its process is the kernel's, where it gives one, so
    /// that all sessions of a process have one share together. The client's own word does not
    /// count.
    case clientJoined(ClientID, Incarnation, process: Int32? = nil)
    /// A client wants an image: the request as the configuration made it, and on what terms.
    case load(ClientID, LoadRequest, LoadTerms)
    /// A client wants an image of bytes that it brought along. They lie in a block that the
    /// coordinator made (`WorkerID.coordinator`), and the URL is the name of their digest. The
    /// format is what the first bytes look like.
    case loadUpload(ClientID, LoadRequest, LoadTerms, BlockReference, ImageFormat? = nil)
    /// An operator puts bytes that came along under the key that the request names as its base key.
    case put(ClientID, LoadRequest, LoadTerms, BlockReference, ImageFormat? = nil)
    /// A client no longer wants one image, or one batch.
    case cancel(ClientID, Token)
    /// A client no longer wants any image of a group.
    case cancelGroup(ClientID, GroupID)
    /// A client wants one image, or one batch, more or less badly than it said.
    case reprioritise(ClientID, Token, Priority)
    /// A client wants all images of a group more or less badly than it said.
    case reprioritiseGroup(ClientID, GroupID, Priority)
    /// A client will want images: a batch of URLs, or a further part of one. The terms are those of
    /// the template: what they refuse refuses the batch. URLs are resolved when they are begun.
    case prefetch(ClientID, PrefetchRequest, LoadTerms)
    /// A part of a prefetch could not be read, and its client was told so: the batch is over.
    case prefetchRefused(ClientID, Token)
    /// A client wants something else in a slot, which will be admitted later.
    case leaveSlot(ClientID, slot: String)
    /// An operator ends a request or a batch of any client.
    case cancelAny(Token)
    /// An operator ends all requests of a group, of any client.
    case cancelGroupOfAny(GroupID)
    /// An operator asks for, or changes, what is not tried.
    case blacklist(ClientID, BlacklistCommand)
    /// An operator asks about, or removes, an entry of the cache.
    case cache(ClientID, CacheCommand)
    /// An operator suspends transfers, or lets them go on.
    case downloads(DownloadCommand)
    /// The configuration says how many transfers there may be at a time; `nil`: as many as workers
    /// take.
    case transfersMax(Int?)
    /// The configuration says which names of caches stand for several.
    case caches(CacheLayout)
    /// A client answered loads by vouchers.
    case used(UsedVouchers)
    /// A client no longer reads these large blocks of `results/`.
    case clientReleased(ClientID, [BlockID])
    /// A client's connection ended.
    case clientLeft(ClientID)

    /// A worker was welcomed. Where no pool is named, it belongs to the own pool of its kind.
    case workerJoined(
        WorkerID, kind: WorkerKind, incarnation: Incarnation, credit: UInt32, pool: PoolID? = nil,
        capabilities: WorkerCapabilities = .all)
    /// A worker takes that many more jobs.
    case credit(WorkerID, UInt32)
    /// A worker made segments.
    case segmentsOpened(WorkerID, [SegmentAnnouncement])
    /// A worker unlinked segments.
    case segmentsClosed(WorkerID, [SegmentAnnouncement])
    /// How far a job is.
    case progress(WorkerID, JobProgress)
    /// A job ended.
    case outcome(WorkerID, JobOutcome)
    /// The cache answers a key from memory from now on.
    case stored(WorkerID, StoredNotice)
    /// Blocks of `results/` hold their keys no longer.
    case evicted(WorkerID, [BlockID])
    /// A worker takes nothing new.
    case workerDraining(WorkerID)
    /// A worker's connection ended. The record is what it left, where it crashed.
    case workerLeft(WorkerID, CrashRecord?)

    /// Deadlines may have passed.
    case tick
    /// Admit nothing new; `drained` follows when all admitted requests have ended.
    case drain
}
