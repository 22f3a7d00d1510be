public import ImageModel

/// One attempt at one piece of work, given to one worker.
public struct Job: Hashable, Sendable {
    /// Which job.
    public var id: JobID
    /// Counts from 1; an outcome of an older attempt is not accepted.
    public var attempt: UInt32
    /// What to do.
    public var work: JobWork
    /// Milliseconds left; a worker gives up by itself when they are over.
    public var millisecondsLeft: UInt32
    /// The class.
    public var priority: Priority
    /// What logs say of the request that wanted it first.
    public var logContext: LogContext
    /// Whether anybody listens to how far it is. A worker says nothing of that where nobody does.
    public var wantsProgress: Bool
    /// Whether what has arrived is to be handed out while the rest comes (`JobProgress.arrived`).
    public var wantsArrived: Bool
    /// Blocks of the worker that are free, as in `WorkerCommand.release`: told with a job, where
    /// the worker reads that there.
    public var released: [BlockID] = []

    /// Describes an attempt.
    public init(
        id: JobID, attempt: UInt32, work: JobWork, millisecondsLeft: UInt32, priority: Priority,
        logContext: LogContext = LogContext(), wantsProgress: Bool = false,
        wantsArrived: Bool = false
    ) {
        self.wantsProgress = wantsProgress
        self.wantsArrived = wantsArrived
        self.id = id
        self.attempt = attempt
        self.work = work
        self.millisecondsLeft = millisecondsLeft
        self.priority = priority
        self.logContext = logContext
    }
}

/// New facts about a job that a worker holds.
public struct JobAdjustment: Hashable, Sendable {
    /// Which job.
    public var id: JobID
    /// Milliseconds left from now.
    public var millisecondsLeft: UInt32
    /// The class.
    public var priority: Priority
    /// Whether anybody listens to how far it is. Where that is new, the worker reports at once.
    public var wantsProgress: Bool
    /// Whether what has arrived is to be handed out. Where that is new, it is at once.
    public var wantsArrived: Bool

    /// Describes the change.
    public init(
        id: JobID, millisecondsLeft: UInt32, priority: Priority, wantsProgress: Bool = false,
        wantsArrived: Bool = false
    ) {
        self.wantsProgress = wantsProgress
        self.wantsArrived = wantsArrived
        self.id = id
        self.millisecondsLeft = millisecondsLeft
        self.priority = priority
    }
}

/// The stage that a job belongs to.
public enum JobStage: UInt8, Hashable, Sendable, CaseIterable {
    /// Copy bytes into the cache, for storing, for delivery, or for both.
    case store = 0
    /// Ask the cache for a key.
    case query = 1
    /// Fetch a URL.
    case fetch = 2
    /// Bytes to pixels.
    case decode = 3
    /// Pixels, or one colour, to encoded bytes.
    case transform = 4

    /// Who does it.
    public var kind: WorkerKind {
        switch self {
        case .store, .query: .cache
        case .fetch: .download
        case .decode: .decode
        case .transform: .transform
        }
    }

    /// The word in status and logs.
    public var name: String {
        switch self {
        case .store: "store"
        case .query: "query"
        case .fetch: "fetch"
        case .decode: "decode"
        case .transform: "transform"
        }
    }
}

extension JobWork {
    /// The stage that it belongs to.
    public var stage: JobStage {
        switch self {
        case .store: .store
        case .query, .entry: .query
        case .fetch: .fetch
        case .decode: .decode
        case .transform, .paint: .transform
        }
    }
}

/// The one answer of a worker to one job.
public struct JobOutcome: Hashable, Sendable {
    /// Which job.
    public var id: JobID
    /// Which attempt.
    public var attempt: UInt32
    /// How it ended.
    public var result: JobResult
    /// Microseconds of work, without waiting in the worker's queue.
    public var workMicroseconds: UInt64

    /// Describes an end.
    public init(id: JobID, attempt: UInt32, result: JobResult, workMicroseconds: UInt64) {
        self.id = id
        self.attempt = attempt
        self.result = result
        self.workMicroseconds = workMicroseconds
    }
}

/// How a job ended.
public indirect enum JobResult: Hashable, Sendable {
    /// A body came.
    case fetched(FetchedBody)
    /// The cache has it.
    case hit(CacheHit)
    /// The cache has it not. A miss reports no tier (SEMANTICS §2.5).
    case miss
    /// The cache took it.
    case stored(StoreReport)
    /// What was asked about an entry: the tiers that have it, or from which it is gone.
    case entry(CacheTypes)
    /// Entries that are listed, or how many there were or are gone.
    case entries(EntryPage)
    /// What an external cache knows of the freshness of an entry that it holds.
    case validity(Validity)
    /// Pixels, or header facts.
    case decoded(DecodedImage)
    /// An encoded image.
    case transformed(EncodedImage)
    /// It failed; `cancelled` is an error code too.
    case failed(ImageError)

    /// What the bytes that it hands over are said to be; `nil` where nothing is said, and for
    /// pixels.
    public var format: ImageFormat? {
        switch self {
        case .fetched(let body): body.format
        case .hit(let hit): hit.metadata.info.format
        case .transformed(let image): image.info.format
        case .stored, .decoded, .miss, .entry, .entries, .validity, .failed: nil
        }
    }
}

/// A body as it came.
public struct FetchedBody: Hashable, Sendable {
    /// The bytes.
    public var reference: BlockReference
    /// Status of the last response.
    public var httpStatus: UInt16
    /// Header of the last response, parameters included.
    public var contentType: String?
    /// Validator.
    public var etag: String?
    /// Validator.
    public var lastModified: String?
    /// Caching rules of the origin.
    public var cacheControl: String?
    /// Names of request headers on which the answer depends.
    public var vary: String?
    /// URL of the last response.
    public var effectiveURL: String
    /// What the first bytes look like: decides which decoders may be given them, and is not
    /// believed by these. `nil` where the worker does not say.
    public var format: ImageFormat?
    /// How it came; `nil` where the worker does not say.
    public var account: FetchAccount?
    /// How old it was when it came; `nil` where the worker does not say.
    public var age: ResponseAge?
    /// What its origin calls it (`Cache-Tag`, `Surrogate-Key`), `CacheTag.countMax` at most.
    public var tags: [String] = []

    /// Describes a body.
    public init(
        reference: BlockReference, httpStatus: UInt16, contentType: String? = nil,
        etag: String? = nil, lastModified: String? = nil, cacheControl: String? = nil,
        vary: String? = nil, effectiveURL: String, format: ImageFormat? = nil
    ) {
        self.format = format
        self.reference = reference
        self.httpStatus = httpStatus
        self.contentType = contentType
        self.etag = etag
        self.lastModified = lastModified
        self.cacheControl = cacheControl
        self.vary = vary
        self.effectiveURL = effectiveURL
    }
}

/// Bytes that the cache has.
public struct CacheHit: Hashable, Sendable {
    /// The bytes, in `results/` or in the staging arena as the query asked.
    public var reference: BlockReference
    /// Which tier had them: memory or disk.
    public var tier: CacheTypes
    /// What was stored with them.
    public var metadata: StoredMetadata

    /// Describes a hit.
    public init(reference: BlockReference, tier: CacheTypes, metadata: StoredMetadata) {
        self.reference = reference
        self.tier = tier
        self.metadata = metadata
    }
}

/// What became of a store.
public struct StoreReport: Hashable, Sendable {
    /// The copy in `results/`, where delivery was asked for.
    public var delivered: BlockReference?
    /// Tiers that have it now, or will have it once the write-behind is through.
    public var tiers: CacheTypes
    /// Why a tier that was asked for does not have it.
    public var skipped: String?
    /// Whether the source has the same bytes as those that it was to be compared with.
    public var isSame: Bool
    /// Of the copy that is kept or delivered; `nil` where none is.
    public var digest: ContentDigest?

    /// Describes a store.
    public init(
        delivered: BlockReference?, tiers: CacheTypes, skipped: String? = nil,
        isSame: Bool = false
    ) {
        self.isSame = isSame
        self.delivered = delivered
        self.tiers = tiers
        self.skipped = skipped
    }
}

/// What a decoder found.
public struct DecodedImage: Hashable, Sendable {
    /// Of the source: displayed size before any reduction.
    public var info: ImageInfo
    /// Frames in their order, each in a block of its own; none where only the header was wanted.
    public var frames: [Frame]
    /// Facts that were asked for.
    public var facts: ImageFacts?
    /// A file that is the result, in the place of frames.
    public var file: BlockReference?
    /// Whether pixels are missing that the source should have.
    public var isDamaged = false

    /// The pixels of one frame.
    public struct Frame: Hashable, Sendable {
        /// Where they are.
        public var reference: BlockReference
        /// How they lie.
        public var layout: PixelLayout

        /// Names pixels.
        public init(reference: BlockReference, layout: PixelLayout) {
            self.reference = reference
            self.layout = layout
        }
    }

    /// Describes a decode.
    public init(info: ImageInfo, frames: [Frame], facts: ImageFacts? = nil) {
        self.info = info
        self.frames = frames
        self.facts = facts
    }
}

/// What a transformer made.
public struct EncodedImage: Hashable, Sendable {
    /// The bytes.
    public var reference: BlockReference
    /// What they are.
    public var info: ImageInfo
    /// How they were made.
    public var account: TransformAccount

    /// Names an image.
    public init(
        reference: BlockReference, info: ImageInfo, account: TransformAccount = TransformAccount()
    ) {
        self.reference = reference
        self.info = info
        self.account = account
    }
}

extension JobResult {
    /// The blocks that this result hands over, in order.
    public var references: ShortList<BlockReference> {
        switch self {
        case .fetched(let body): ShortList(body.reference)
        case .hit(let hit): ShortList(hit.reference)
        case .stored(let report): ShortList(report.delivered)
        case .decoded(let image):
            image.file.map { ShortList($0) }
                ?? ShortList(contentsOf: image.frames.lazy.map(\.reference))
        case .transformed(let image): ShortList(image.reference)
        case .miss, .entry, .entries, .validity, .failed: ShortList()
        }
    }

    /// The same result with these references in place of its own, as many as it has.
    public func with(_ references: ShortList<BlockReference>) -> JobResult {
        guard let first = references.first else { return self }
        switch self {
        case .fetched(var body):
            body.reference = first
            return .fetched(body)
        case .hit(var hit):
            hit.reference = first
            return .hit(hit)
        case .stored(var report):
            report.delivered = first
            return .stored(report)
        case .decoded(var image) where image.file != nil:
            image.file = first
            return .decoded(image)
        case .decoded(var image):
            for index in references.indices { image.frames[index].reference = references[index] }
            return .decoded(image)
        case .transformed(var image):
            image.reference = first
            return .transformed(image)
        case .miss, .entry, .entries, .validity, .failed: return self
        }
    }
}

extension ImageError {
    /// What `busy` tells a client: at least and at most so many seconds.
    public static let retryAfterSeconds = 0.1...30.0

    /// Something is full; `details` say in seconds when it may not be, within
    /// `retryAfterSeconds`.
    public static func busy(
        _ what: String, seconds: Double = retryAfterSeconds.lowerBound
    ) -> ImageError {
        let range = retryAfterSeconds
        let seconds = min(max(seconds, range.lowerBound), range.upperBound)
        let tenths = Int((seconds * 10).rounded(.up))
        return ImageError(
            .busy, "\(what): try again later",
            details: ["retryAfter": "\(tenths / 10).\(tenths % 10)"])
    }
}

// A worker tells of an origin that has nothing new by a failure, whose details have what else the
// origin said.
extension ImageError {
    /// The origin says that nothing changed, and who may keep that for how long.
    public static func notModified(_ caching: OriginCaching) -> ImageError {
        var details: [String: String] = [:]
        details["cacheControl"] = caching.cacheControl.field
        details["born"] = String(caching.age.bornMilliseconds)
        details["expiresIn"] = caching.age.expiresInSeconds.map { String($0) }
        return ImageError(
            .cacheNotModified, "the origin says that nothing changed", details: details)
    }

    /// What it says of keeping its answer.
    public var confirmedControl: CacheControl { CacheControl(details["cacheControl"]) }

    /// What that answer says of caching; `nil` where the worker did not say how old it is, or
    /// nothing that can be.
    public var confirmedCaching: OriginCaching? {
        guard let born = number("born"), HTTPExpiry.bornRange.contains(born) else { return nil }
        let age = ResponseAge(
            bornMilliseconds: born,
            expiresInSeconds: number("expiresIn").map { min(max(0, $0), DeltaSeconds.most) })
        return OriginCaching(confirmedControl, age)
    }

    private func number(_ detail: String) -> Int64? { details[detail].flatMap { Int64($0) } }
}
