public import ImageModel

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
