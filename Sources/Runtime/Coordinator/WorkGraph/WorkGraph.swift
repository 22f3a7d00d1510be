import Model

/// The work graph: produces images for subscribers and shares each unit of work among all that need
/// it.
///
/// A subscriber (`Subscriber`) waits at a node, which performs one unit of work:
///
///     subscribers ──► LookupNode                               a query of the result's key
///     subscribers ──► ValidityNode                             freshness known to external
///                                                              caches
///     subscribers ──► ResultNode ──► DecodeNode ──► SourceNode a result, its pixels, its bytes
///     subscribers, results ────────► DecodeNode ──► SourceNode overlays
///                     TranscodeNode                            a serialization on its way to
///                                                              disk
///                     PartialNode                              a partial image
///
/// A subscriber is opaque: an ID and the requested image. Calls change the state at once; outcomes
/// for subscribers are queued as `WorkGraphEvent` values, which the caller drains after each call.
/// The dispatcher owns jobs and workers: nodes submit work to it and receive completions.
///
/// A job holds the blocks that it reads for its lifetime; a node holds the blocks that it keeps.
/// The loss of a worker tears down the nodes that need its output, and their subscribers start
/// again.
final class WorkGraph {
    let limits: WorkGraphLimits
    /// Computes a digest of header values for cache keys that doesn't reveal the values.
    let variantDigest: @Sendable ([HTTPHeader]) -> String

    // Active nodes by kind.
    let lookups = NodeTable<LookupNode>()
    let validities = NodeTable<ValidityNode>()
    let results = NodeTable<ResultNode>()
    let decodes = NodeTable<DecodeNode>()
    let sources = NodeTable<SourceNode>()
    /// Serializations of results for the disk.
    var transcodes = SlotMap<TranscodeNode>()
    /// Partial images from the data received so far.
    var partials = SlotMap<PartialNode>()
    /// The overlays of subscribers.
    var gatherings: [Subscriber.ID: Gathering] = [:]
    /// Bytes of overlay pixels. They don't count as decoder output because a request that holds
    /// overlays may itself wait for decoder space, or for an origin.
    var overlayBytes: SharedSpace<FlowOwner> {
        didSet { dispatcher.pixelBytesApart = overlayBytes.count }
    }

    /// The composite and external caches.
    var layout = CacheLayout() { didSet { changes.restart() } }

    /// Composite cache jobs: those that involve external caches.
    var compositeJobs = CompositeCacheJobs()
    /// Recent stores and removals, used to detect stale hits of external caches; maintained only
    /// while there are such caches.
    var changes = EntryChangeLog()

    /// Texts of entries whose revalidation is being reported to the cache.
    var renewing: Set<String> = []

    /// Assigns the work to workers.
    let dispatcher: Dispatcher
    let shared: SharedState
    /// The purpose of each job, until its work is abandoned.
    var purposes: [JobID: JobPurpose] = [:]
    private(set) var events = Deque<WorkGraphEvent>()

    /// Creates a work graph without subscribers and workers.
    ///
    /// `variantDigest` must return a short digest of the headers that a response varies on, usable
    /// in a key and not computable from guessed values.
    init(
        limits: WorkGraphLimits, _ dispatcher: Dispatcher, _ shared: SharedState,
        variantDigest: @escaping @Sendable ([HTTPHeader]) -> String
    ) {
        self.limits = limits
        self.variantDigest = variantDigest
        overlayBytes = SharedSpace(max: limits.overlayBytesMax)
        self.dispatcher = dispatcher
        self.shared = shared
    }

    /// The time of the current event.
    var now: Instant { shared.now }

    /// Returns the oldest event, exactly once.
    func nextEvent() -> WorkGraphEvent? {
        events.count == 0 ? nil : events.popFirst()
    }

    /// Queues an event for the owner of the subscribers.
    func emit(_ event: WorkGraphEvent) { events.append(event) }

    /// Queues an event for subscribers unless there are none.
    func emit(
        _ subscribers: [Subscriber], _ event: (_ subscribers: [Subscriber.ID]) -> WorkGraphEvent
    ) {
        if !subscribers.isEmpty { emit(event(subscribers.map(\.id))) }
    }

    /// Queues the outcome of what subscribers waited for.
    func notify(
        _ subscribers: [Subscriber], _ outcome: WorkGraphEvent.Outcome, block: BlockHandle? = nil
    ) {
        emit(subscribers) { .ended(outcome, block, $0) }
    }

    /// Whether all events have been processed.
    var isSilent: Bool { events.count == 0 }
}

/// Outcomes for subscribers and other information for the modules above. A subscriber named in an
/// event no longer waits anywhere unless the event says otherwise.
indirect enum WorkGraphEvent: Sendable {
    // Subscribers.

    /// The subscribers' work has this outcome. A block that they read is in `results/`.
    case ended(Outcome, BlockHandle?, [Subscriber.ID])
    /// An overlay failed; `nil` if its stages are exhausted.
    case ungathered(Subscriber.ID, ImageError?)
    /// The image of a subscriber whose reply waits for a store, and the pending store, if any.
    case kept(FinishedProduct, BlockHandle?, Subscriber.ID, Place?)
    /// A subscriber now waits for another store.
    case moved(Subscriber.ID, Place)
    /// The subscribers' stores have finished, and their images are in these tiers.
    case stored([Stored])
    /// The subscribers' images were lost with the cache.
    case lost([Subscriber.ID])
    /// A subscriber keeps waiting after an unsuccessful attempt that took this time.
    case tried(StageTimings, Subscriber.ID)
    /// The cache lookup of the subscribers' original missed after this time. They keep waiting
    /// while it is fetched.
    case fetching(StageTimings, [Subscriber.ID])
    /// Progress of the subscribers' transfer, with the image header if it is known. They keep
    /// waiting.
    case progressed(Transfer, JobProgress, ImageInfo?, [Subscriber.ID])
    /// A partial image in the given block, made from this many bytes. The subscribers keep waiting.
    case partial(Transfer, DeliveredImage, BlockHandle, UInt64, [Subscriber.ID])

    // Sources.

    /// An operation of these requests on a source failed.
    case failedSource(SourceKey, SourceOperation, ImageError, [AdmittedRequest])
    /// The source turned out to be an image on which these requests' operation is possible.
    case provenSource(SourceKey, SourceOperation, [AdmittedRequest])

    // The cache.

    /// An entry was stored under this text.
    case overtaken(String)
    /// The cache referred to a block in `results/`.
    case noticed(BlockReference, WorkerID)
    /// Answers from memory become invalid.
    case withdrawn(Withdrawal)
    /// The cache answered an operator's request.
    case answered(JobID, CacheReport.Outcome)

    /// The outcome of what subscribers waited for.
    indirect enum Outcome: Sendable {
        /// The cache has their result.
        case found(CacheHit, StageTimings)
        /// The cache doesn't have the result under this text in these tiers.
        case missed(String, CacheTypes, StageTimings)
        /// The answer of external caches about the freshness of their images, with the time that
        /// the queries took; `nil` if there is nothing new.
        case validity(Validity?, StageTimings)
        /// Their overlays are available.
        case gathered
        /// Their image is available, or only its properties were needed.
        case produced(FinishedProduct)

        // Their work was torn down.

        /// They fail.
        case fail(ImageError)
        /// They continue with the next stage after work that took this time. The cache was queried
        /// for the given text and missed, if not `nil`.
        case onward(StageTimings, missed: String?)
        /// They start again.
        case again
        /// They start again without counting it as a retry.
        case afresh
        /// They already have the current image.
        case unmodified

        /// The text that was queried in the cache and missed.
        var missedText: String? {
            switch self {
            case .missed(let text, _, _), .onward(_, missed: let text?): text
            default: nil
            }
        }
    }
}

/// Limits on produced images and intermediate data; job limits are separate.
package struct WorkGraphLimits: Hashable, Sendable {
    /// The largest number of concurrent serializations; further ones are not written to disk.
    var transcodesMax = 64
    /// The budget for overlay pixels in bytes, in addition to the decoders' budget. A request that
    /// exceeds it is `busy`, as is one whose owner would hold more than three times the remaining
    /// budget.
    var overlayBytesMax: UInt64 = 256 << 20
    /// The largest number of pixels per overlay: 3840 × 2160. Four such overlays with alpha, which
    /// one request may hold while its image is produced, use about half of `overlayBytesMax` and
    /// leave space for others.
    var overlayPixelsMax = 8_294_400
    /// The largest size of a fetched body in bytes.
    var bodyBytesMax: UInt64 = 64 << 20
    /// The largest encoding cost of a result: pixels times the slowness of the encoder
    /// (`JobWork.cost`). The default is 25 megapixels of lossless WebP, which takes about a second
    /// per megapixel; other formats reach `image` first.
    var encodingCostMax: UInt64 = 1_000_000_000
    /// The largest number of frames that a decoder may return. Results use the first frame; the
    /// others are kept equally long.
    package var framesMax = 1
    /// Image limits, applied at admission to the request itself and in every job.
    var image = ImageLimits()

    var overlay: ImageLimits {
        var limits = image
        limits.pixelsMax = min(limits.pixelsMax, overlayPixelsMax)
        return limits
    }
}

// Timers, and whether anything is left.
extension WorkGraph {
    /// The time at which the next timer is due; `nil` if there is none.
    var nextDeadline: Instant? { dispatcher.nextDeadline.min(compositeJobs.alarms.first?.at) }

    /// The time of the next timer.
    var nextAlarm: Instant? { dispatcher.nextAlarm.min(compositeJobs.alarms.first?.at) }

    func fireFirstTimer() -> Bool {
        guard let ours = compositeJobs.alarms.first?.at, ours <= dispatcher.nextAlarm ?? ours else {
            return dispatcher.fireFirstTimer()
        }
        return fireCompositeJobTimer()
    }

    func forgetAlarms() {
        dispatcher.forgetAlarms()
        compositeJobs.alarms.forget(unlessOf: compositeJobs.jobs)
    }

    /// Whether nothing is left: no nodes, jobs, blocks, or list entries.
    var isIdle: Bool {
        lookups.isEmpty && validities.isEmpty && results.isEmpty && decodes.isEmpty
            && sources.isEmpty && transcodes.count == 0 && partials.count == 0 && gatherings.isEmpty
            && purposes.isEmpty && compositeJobs.isEmpty && changes.isQuiet
            && overlayBytes.count == 0 && isSilent && dispatcher.isIdle
    }
}
