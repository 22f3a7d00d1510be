package import Dispatching
package import ImageModel
public import Messages
package import Tables

/// Makes images for waiters, each piece of work once for all that need it.
///
/// A waiter waits at a node, which does one piece of work:
///
///     waiters ──► LookupNode                               a query of the result's key
///     waiters ──► ValidityNode                             what external caches know of its
///                                                          freshness
///     waiters ──► ResultNode ──► DecodeNode ──► SourceNode a result, its pixels, its bytes
///     waiters, results ────────► DecodeNode ──► SourceNode what is laid over it
///                 TranscodeNode                            what a serializer makes, under way
///                                                          to the disk
///                 PartialNode                              an image of what has arrived so far
///
/// A waiter is opaque: an id, and what is wanted. Calls change the state at once; what became of
/// waiters collects in a queue (`DerivationEvent`), which is taken after each call. Jobs and
/// workers are the dispatcher's: nodes submit work, and hear what came of it.
///
/// A job holds the blocks that it reads while it is there; a node holds what it keeps. What is lost
/// with a worker tears down the nodes that need it, and their waiters begin again.
package struct Deriver: Sendable {
    private let passing = PassedByAddress()
    let limits: DerivationLimits
    /// Names header values in cache keys without telling them.
    let variantDigest: @Sendable ([HTTPHeader]) -> String

    // What is being done, by what it is.
    var lookups = NodeTable<LookupNode>()
    var validities = NodeTable<ValidityNode>()
    var results = NodeTable<ResultNode>()
    var decodes = NodeTable<DecodeNode>()
    var sources = NodeTable<SourceNode>()
    /// Other encodings of what was made, for the disk.
    var transcodes = SlotTable<TranscodeNode>()
    /// Images of what has arrived so far.
    var partials = SlotTable<PartialNode>()
    /// What waiters have laid over their images.
    var gatherings: [Waiter.ID: Gathering] = [:]
    /// Bytes of overlays' pixels. They do not count as output of decoders: a request that holds
    /// overlays may wait for space there.
    var overlayBytes: OverlayBytes { didSet { dispatcher.pixelBytesApart = overlayBytes.count } }

    /// Which names of caches stand for several.
    package var layout = CacheLayout() { didSet { changes.restart() } }

    /// Jobs of the cache in which caches of others have a part.
    var errands = CacheErrands()
    /// Stores and removals, as far as hits of caches of others may be older; kept while there are
    /// such caches.
    var changes = EntryChangeLog()

    /// Texts of entries that the cache is being told of, that their origins have confirmed them.
    var renewing: Set<String> = []

    /// Gives the work to workers.
    package internal(set) var dispatcher: Dispatcher
    /// What the outcome of each job is for. Jobs that nobody wants any more are not in it.
    var purposes: [JobID: JobPurpose] = [:]

    package internal(set) var figures = DerivationFigures()
    package private(set) var events = Fifo<DerivationEvent>()

    /// A deriver without waiters and workers.
    ///
    /// `variantDigest` is of the values on which an origin's answer depends: short, fit for a key,
    /// and such that nobody can compute the digest of a guess.
    package init(
        limits: DerivationLimits, dispatch: DispatchLimits,
        variantDigest: @escaping @Sendable ([HTTPHeader]) -> String
    ) {
        self.limits = limits
        self.variantDigest = variantDigest
        overlayBytes = OverlayBytes(max: limits.overlayBytesMax)
        dispatcher = Dispatcher(limits: dispatch)
    }

    /// Whether there is something to take, or to go on with. Looked at several times an event.
    package var hasNews: Bool {
        events.count > 0 || dispatcher.completions.count > 0 || !dispatcher.actions.isEmpty
    }

    /// The next event, the earliest first. Each is told once.
    package mutating func nextEvent() -> DerivationEvent? {
        events.count == 0 ? nil : events.popFirst()
    }

    /// Whoever knows the waiters is to be told.
    mutating func tell(_ event: DerivationEvent) { events.append(event) }

    /// The same of waiters, if there are any.
    mutating func tell(
        _ waiters: [Waiter], _ event: (_ waiters: [Waiter.ID]) -> DerivationEvent
    ) {
        if !waiters.isEmpty { tell(event(waiters.map(\.id))) }
    }

    /// Whether all events were taken.
    var isSilent: Bool { events.count == 0 }
}

/// What became of waiters, and what else other rooms have to know. A waiter that an event names
/// waits nowhere any more, unless the event says where.
package indirect enum DerivationEvent: Sendable {
    // Waiters.

    /// The cache has the waiters' result, in that block.
    case found(CacheHit, BlockHandle, StageTimings, [Waiter.ID])
    /// The cache does not have the result under that text, in those tiers.
    case missed(String, CacheTypes, StageTimings, [Waiter.ID])
    /// What external caches know of the freshness of the waiters' images, after questions that took
    /// so long; `nil`: nothing new.
    case validity(Validity?, StageTimings, [Waiter.ID])
    /// What is laid over their images is there.
    case gathered([Waiter.ID])
    /// An overlay cannot be had; `nil`: no way to it is left.
    case ungathered(Waiter.ID, ImageError?)
    /// Their image is there; facts have no block.
    case made(Made, BlockHandle?, [Waiter.ID])
    /// The same for a waiter that is answered after a store, and where it waits for that, if it
    /// still has to.
    case kept(Made, BlockHandle?, Waiter.ID, Place?)
    /// A waiter waits for another store now.
    case moved(Waiter.ID, Place)
    /// The waiters' stores have ended, and their images are in those tiers.
    case stored([Stored])
    /// The waiters' images were lost with the cache.
    case lost([Waiter.ID])
    /// A waiter waits on, after work that took so long and was in vain.
    case tried(StageTimings, Waiter.ID)
    /// The cache does not have the waiters' original, as it said after so long. They wait on while
    /// it is fetched.
    case fetching(StageTimings, [Waiter.ID])
    /// What they waited for was torn down.
    case disposed(Disposition, [Waiter.ID])
    /// How far the waiters' transfer is, and what its header says, if that is known. They wait on.
    case progressed(Transfer, JobProgress, ImageInfo?, [Waiter.ID])
    /// A partial image of so many bytes, in that block. The waiters wait on.
    case partial(Transfer, DeliveredImage, BlockHandle, UInt64, [Waiter.ID])

    // Sources.

    /// What those orders do with a source failed.
    case failedSource(SourceKey, SourceOperation, ImageError, [Order])
    /// The source is an image after all, with which that can be done for those orders.
    case provenSource(SourceKey, SourceOperation, [Order])
    /// The header fields on which the original under that plain text depends.
    case varies(String, [String]?)
    /// The origin has confirmed what is kept with that mark under that plain text.
    case confirmed(String, BodyMark, Confirmation)

    // The cache.

    /// Something was stored under that text.
    case overtaken(String)
    /// The cache named a block of `results/`.
    case noticed(BlockReference, WorkerID)
    /// The cache is gone, and all that it had in memory.
    case cacheGone(WorkerID)
    /// What the cache says to an inquiry.
    case answered(JobID, CacheReport.Outcome)
}

/// Every limit of what is made, besides those of jobs.
public struct DerivationLimits: Hashable, Sendable {
    /// Images that serializers encode anew at a time; one more is not written to the disk.
    public var transcodesMax = 64
    /// Bytes of pixels that are kept to be laid over others, beside the budget of decodes. A
    /// request that needs more is `busy`. So is one whose owner would hold more than three times
    /// what is left.
    public var overlayBytesMax: UInt64 = 256 << 20
    /// Pixels of one of them, as many as an image of 3840 × 2160 has: four of that size with
    /// transparency, which one request may hold for as long as its image is on its way, are about
    /// half of `overlayBytesMax`, so that others find room beside it.
    public var overlayPixelsMax = 8_294_400
    /// Bytes of a fetched body.
    public var bodyBytesMax: UInt64 = 64 << 20
    /// Pixels of a result times how slow its encoder is (`JobWork.cost`): 25 megapixels of WebP
    /// without loss, which takes about a second for each of them; others reach `image` first.
    public var encodingCostMax: UInt64 = 1_000_000_000
    /// Frames of an image that a decoder may hand over; results are made of the first, and the
    /// others are kept for as long.
    public var framesMax = 1
    /// Limits of an image, at admission for what the request itself says, and in every job.
    public var image = ImageLimits()

    /// Limits of an image that is laid over another one.
    var overlay: ImageLimits {
        var limits = image
        limits.pixelsMax = min(limits.pixelsMax, overlayPixelsMax)
        return limits
    }

    /// The defaults.
    public init() {}
}

/// How often work was joined that was under way, and what the cache had of it, since the start.
package struct DerivationFigures: Sendable {
    /// Waiters that joined a query of their result's key.
    package internal(set) var joinedLookups: UInt64 = 0
    /// Waiters that joined a result which was being made.
    package internal(set) var joinedResults: UInt64 = 0
    /// Results and waiters that joined a decode.
    package internal(set) var joinedDecodes: UInt64 = 0
    /// Decodes that joined a transfer, or a query of the original.
    package internal(set) var joinedSources: UInt64 = 0
    /// Originals that the cache had.
    package internal(set) var originalHits: UInt64 = 0
    /// Images of what had arrived so far that were made.
    package internal(set) var partials: UInt64 = 0
}

// What is said to the dispatcher by whoever hears of workers, blocks and the time.
extension Deriver {
    /// The time of the event that is being handled.
    package var now: Instant {
        get { dispatcher.now }
        set { dispatcher.now = newValue }
    }

    /// What workers are to be told, in order; whoever handles the event takes it.
    package mutating func takeActions(_ take: (DispatchAction) -> Void) {
        guard !dispatcher.actions.isEmpty else { return }
        for action in dispatcher.actions { take(action) }
        dispatcher.actions.removeAll(keepingCapacity: true)
    }

    /// Gives out what waits for as long as somebody has credit.
    package mutating func dispatch() { dispatcher.dispatch() }

    // MARK: - Workers

    package mutating func workerJoined(
        _ worker: WorkerID, _ pool: PoolID, _ incarnation: Incarnation, credit: UInt32,
        _ capabilities: WorkerCapabilities
    ) {
        dispatcher.workerJoined(worker, pool, incarnation, credit: credit, capabilities)
    }

    package mutating func grew(_ worker: WorkerID, by more: UInt32) {
        dispatcher.grew(worker, by: more)
    }

    package mutating func workerDraining(_ worker: WorkerID) { dispatcher.workerDraining(worker) }

    package mutating func workerLeft(_ worker: WorkerID, _ crash: CrashRecord?) {
        dispatcher.workerGone(worker, crash)
    }

    package mutating func expel(_ worker: WorkerID, _ error: ImageError) {
        dispatcher.expel(worker, error)
    }

    package mutating func progressed(_ progress: JobProgress, at worker: WorkerID) {
        dispatcher.progressed(progress, at: worker)
    }

    package mutating func collect(
        _ outcome: JobOutcome, from worker: WorkerID, hasReaders: Bool
    ) {
        dispatcher.collect(outcome, from: worker, hasReaders: hasReaders)
    }

    // MARK: - Blocks

    package mutating func opened(_ segments: [SegmentAnnouncement], by worker: WorkerID) {
        dispatcher.opened(segments, by: worker)
    }

    package mutating func closed(_ segments: [SegmentAnnouncement], by worker: WorkerID) {
        dispatcher.closed(segments, by: worker)
    }

    package mutating func takeUpload(
        _ reference: BlockReference, as format: ImageFormat?
    ) throws(ImageError) -> Upload {
        let taken = try dispatcher.takeUpload(reference, as: format)
        return Upload(block: taken.block, reference: taken.reference)
    }

    package mutating func checkResult(_ reference: BlockReference, from worker: WorkerID)
        -> BlockReference?
    {
        dispatcher.checkResult(reference, from: worker)
    }

    package mutating func hold(_ handle: BlockHandle) { dispatcher.hold(handle) }

    package mutating func drop(_ handle: BlockHandle) { dispatcher.drop(handle) }

    package mutating func release(_ handle: BlockHandle) { dispatcher.release(handle) }

    // MARK: - Time

    package mutating func retryParked() { dispatcher.retryParked() }

    /// When something that waits for time is due; `nil` where nothing does.
    package var nextDeadline: Instant? { dispatcher.nextDeadline.orEarlier(errands.nextAlarm) }

    /// When the next alarm rings.
    package var nextAlarm: Instant? { dispatcher.nextAlarm.orEarlier(errands.nextAlarm) }

    package mutating func ringFirstAlarm() -> Bool {
        guard let ours = errands.nextAlarm, ours <= dispatcher.nextAlarm ?? ours else {
            return dispatcher.ringFirstAlarm()
        }
        return ringErrand()
    }

    package mutating func forgetAlarms() {
        dispatcher.forgetAlarms()
        errands.forgetAlarms()
    }

    // MARK: - What is not tried

    /// The last number that an entry was given of any list of what is not tried.
    package var lastDenial: UInt64 {
        get { dispatcher.lastDenial }
        set { dispatcher.lastDenial = newValue }
    }

    package mutating func forgive(_ url: String?) -> Int { dispatcher.forgive(url) }

    // MARK: - What is at hand

    /// Whether nothing is left of anything: no node, no job, no block, no list that grew.
    package var isIdle: Bool {
        lookups.isEmpty && validities.isEmpty && results.isEmpty && decodes.isEmpty
            && sources.isEmpty && transcodes.count == 0 && partials.count == 0 && gatherings.isEmpty
            && purposes.isEmpty && errands.isEmpty && changes.isQuiet
            && overlayBytes.count == 0 && isSilent && dispatcher.isIdle
    }
}

extension Deriver {
    /// How many transfers may run from now on; what waits begins with the next event.
    package mutating func limitTransfers(_ change: (inout TransferGate) -> Void) {
        change(&dispatcher.transfers)
    }
}
