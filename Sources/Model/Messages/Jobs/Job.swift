/// One attempt at a unit of work, assigned to a worker.
public struct Job: Hashable, Sendable {
    /// The ID of the job.
    public var id: JobID
    /// The attempt, counted from 1; outcomes of earlier attempts are rejected.
    public var attempt: UInt32
    /// The work to perform.
    public var work: JobWork
    /// Milliseconds left; the worker aborts when they have passed.
    public var millisecondsLeft: UInt32
    /// The priority class.
    public var priority: Priority
    /// The logging context of the first request that needed it.
    public var logContext: LogContext
    /// Whether progress has subscribers. If not, the worker reports none.
    public var wantsProgress: Bool
    /// Whether partial data is to be published while the rest arrives (`JobProgress.arrived`).
    public var wantsArrived: Bool
    /// Blocks of the worker that are free, as in `WorkerCommand.release`; sent with a job if the
    /// worker supports it.
    public var released: [BlockID] = []

    /// Creates an attempt.
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

/// Changed parameters of a job that a worker holds.
public struct JobAdjustment: Hashable, Sendable {
    /// The ID of the job.
    public var id: JobID
    /// Milliseconds left from now.
    public var millisecondsLeft: UInt32
    /// The priority class.
    public var priority: Priority
    /// Whether progress has subscribers. If that is new, the worker reports immediately.
    public var wantsProgress: Bool
    /// Whether partial data is to be published. If that is new, it is published immediately.
    public var wantsArrived: Bool

    /// Creates a change.
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
    /// Copy bytes into the cache, for storage, delivery, or both.
    case store = 0
    /// Look up a key in the cache.
    case query = 1
    /// Fetch a URL.
    case fetch = 2
    /// Decode bytes to pixels.
    case decode = 3
    /// Transform and encode pixels or a single color.
    case transform = 4

    /// The kind of worker that performs the stage.
    public var kind: WorkerKind {
        switch self {
        case .store, .query: .cache
        case .fetch: .download
        case .decode: .decode
        case .transform: .transform
        }
    }

    /// The name in status and logs.
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
    /// The stage of the work.
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

/// The single answer of a worker to a job.
public struct JobOutcome: Hashable, Sendable {
    /// The ID of the job.
    public var id: JobID
    /// The attempt, as in the `Job`.
    public var attempt: UInt32
    /// The result.
    public var result: JobResult
    /// The processing time in microseconds, without waiting in the worker's queue.
    public var workMicroseconds: UInt64

    /// Creates an outcome.
    public init(id: JobID, attempt: UInt32, result: JobResult, workMicroseconds: UInt64) {
        self.id = id
        self.attempt = attempt
        self.result = result
        self.workMicroseconds = workMicroseconds
    }
}

/// The result of a job.
public indirect enum JobResult: Hashable, Sendable {
    /// A body was fetched.
    case fetched(FetchedBody)
    /// A cache hit.
    case hit(CacheHit)
    /// A cache miss. A miss reports no tier (SEMANTICS §2.5).
    case miss
    /// The bytes were stored.
    case stored(StoreReport)
    /// The tiers that contain an entry, or from which it was removed.
    case entry(CacheTypes)
    /// A list of entries, or the number of those counted or removed.
    case entries(EntryPage)
    /// The freshness of an entry as known by the external cache that holds it.
    case validity(Validity)
    /// Pixels, or header properties.
    case decoded(DecodedImage)
    /// An encoded image.
    case transformed(EncodedImage)
    /// The job failed; `cancelled` is an error code too.
    case failed(ImageError)

    /// The declared format of the bytes in this result; `nil` if there is none, and for pixels.
    public var format: ImageFormat? {
        switch self {
        case .fetched(let body): body.format
        case .hit(let hit): hit.metadata.info.format
        case .transformed(let image): image.info.format
        case .stored, .decoded, .miss, .entry, .entries, .validity, .failed: nil
        }
    }
}

/// A body as received.
public struct FetchedBody: Hashable, Sendable {
    /// The bytes.
    public var reference: BlockReference
    /// The status of the last response.
    public var httpStatus: UInt16
    /// The content type of the last response, including parameters.
    public var contentType: String?
    /// The `ETag` validator.
    public var etag: String?
    /// The `Last-Modified` validator.
    public var lastModified: String?
    /// The `Cache-Control` field of the origin.
    public var cacheControl: String?
    /// The names of request headers on which the response depends.
    public var vary: String?
    /// The URL of the last response.
    public var effectiveURL: String
    /// The format detected from the first bytes. It selects the decoders that may receive them,
    /// which don't trust it. `nil` if the worker doesn't report it.
    public var format: ImageFormat?
    /// The details of the transfer; `nil` if the worker doesn't report them.
    public var account: FetchAccount?
    /// The age on arrival; `nil` if the worker doesn't report it.
    public var age: ResponseAge?
    /// The tags sent by the origin (`Cache-Tag`, `Surrogate-Key`), at most `CacheTag.countMax`.
    public var tags: [String] = []

    /// Creates a body.
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

/// Bytes found in the cache.
public struct CacheHit: Hashable, Sendable {
    /// The bytes, in `results/` or in the staging arena as requested by the query.
    public var reference: BlockReference
    /// The tier of the hit: memory or disk.
    public var tier: CacheTypes
    /// The metadata stored with the bytes.
    public var metadata: StoredMetadata

    /// Creates a hit.
    public init(reference: BlockReference, tier: CacheTypes, metadata: StoredMetadata) {
        self.reference = reference
        self.tier = tier
        self.metadata = metadata
    }
}

/// The result of a store.
public struct StoreReport: Hashable, Sendable {
    /// The copy in `results/` if delivery was requested.
    public var delivered: BlockReference?
    /// The tiers that contain the entry now, or will when the write-behind has finished.
    public var tiers: CacheTypes
    /// Why a requested tier doesn't contain the entry.
    public var skipped: String?
    /// Whether the source has the same bytes as those it was compared with.
    public var isSame: Bool
    /// The digest of the stored or delivered copy; `nil` if there is none.
    public var digest: ContentDigest?

    /// Creates a report.
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

/// The result of a decode.
public struct DecodedImage: Hashable, Sendable {
    /// The properties of the source, with its displayed size before any downscaling.
    public var info: ImageInfo
    /// The frames in order, each in its own block; empty if only the header was requested.
    public var frames: [Frame]
    /// The requested properties.
    public var properties: ImageProperties?
    /// A file that is the result, instead of frames.
    public var file: BlockReference?
    /// Whether pixels are missing that the source should contain.
    public var isDamaged = false

    /// The pixels of one frame.
    public struct Frame: Hashable, Sendable {
        /// The location.
        public var reference: BlockReference
        /// The memory layout.
        public var layout: PixelLayout

        /// Creates a frame.
        public init(reference: BlockReference, layout: PixelLayout) {
            self.reference = reference
            self.layout = layout
        }
    }

    /// Creates a decode result.
    public init(info: ImageInfo, frames: [Frame], properties: ImageProperties? = nil) {
        self.info = info
        self.frames = frames
        self.properties = properties
    }
}

/// The result of a transformation.
public struct EncodedImage: Hashable, Sendable {
    /// The bytes.
    public var reference: BlockReference
    /// The properties of the image.
    public var info: ImageInfo
    /// How the image was produced.
    public var account: TransformAccount

    /// Creates a result.
    public init(
        reference: BlockReference, info: ImageInfo, account: TransformAccount = TransformAccount()
    ) {
        self.reference = reference
        self.info = info
        self.account = account
    }
}

extension JobResult {
    /// The blocks that this result transfers, in order.
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

    /// Returns the result with its references replaced by as many other references.
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
    /// The range of the retry delay of `busy`, in seconds.
    public static let retryAfterSeconds = 0.1...30.0

    /// The error for an exhausted resource; `details` contain the retry delay in seconds, clamped
    /// to `retryAfterSeconds`.
    public static func busy(
        _ what: String, seconds: Double = retryAfterSeconds.lowerBound
    ) -> ImageError {
        let range = retryAfterSeconds
        let seconds = min(max(seconds, range.lowerBound), range.upperBound)
        let tenths = Int((seconds * 10).rounded(.up))
        return ImageError(.busy, "\(what): try again later") {
            $0.retryAfterSeconds = Double(tenths) / 10
        }
    }
}

// A worker reports an unchanged resource as a failure, whose details contain the caching
// information of the response.
extension ImageError {
    /// The error for a 304 response, with its caching information.
    package static func notModified(_ caching: OriginCaching) -> ImageError {
        ImageError(.cacheNotModified, "the origin reports that the resource has not changed") {
            $0.cacheControl = caching.cacheControl.field
            $0.bornMilliseconds = caching.age.bornMilliseconds
            $0.expiresInSeconds = caching.age.expiresInSeconds
        }
    }

    /// The `Cache-Control` directives of the response.
    package var confirmedControl: CacheControl { CacheControl(typedDetails.cacheControl) }

    /// The caching information of the response; `nil` if the worker reported no age or an invalid
    /// one.
    package var confirmedCaching: OriginCaching? {
        guard let born = typedDetails.bornMilliseconds, HTTPExpiry.bornRange.contains(born)
        else { return nil }
        let age = ResponseAge(
            bornMilliseconds: born,
            expiresInSeconds: typedDetails.expiresInSeconds.map {
                min(max(0, $0), DeltaSeconds.most)
            })
        return OriginCaching(confirmedControl, age)
    }
}
