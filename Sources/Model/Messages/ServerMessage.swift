/// A message from the coordinator to a client (PROTOCOL §8.2).
public enum ServerMessage: Hashable, Sendable {
    /// The answer to `hello`.
    case welcome(ClientWelcome)
    /// The sender is unknown and must introduce itself first.
    case helloRequired
    /// The progress of a request; never after its terminal reply.
    case progress(RequestProgress)
    /// A reply to a request.
    case reply(Reply)
    /// The answer to `status`.
    case status(StatusReport)
    /// The answer to `failureCache`.
    case failureCache(FailureCacheReport)
    /// The answer to `cache`.
    case cache(CacheReport)
    /// A chunk of the bytes of an image, before its reply.
    case chunk(Chunk)
    /// Acknowledges this number of bytes of chunks.
    case taken(UInt64)
    /// The progress of a prefetch, or its end.
    case prefetched(PrefetchReport)
    /// The answer to `drain`: the number of processes that are draining.
    case draining(UInt32)
    /// The message violated the protocol; with the token of the request concerned, if known.
    case refused(ImageError, Token?)
}

/// The acceptance of a client.
public struct ClientWelcome: Hashable, Sendable {
    /// The epoch of the coordinator. If it has changed, the client resends all requests that have
    /// no terminal reply and were not canceled.
    public var epoch: Epoch
    /// The maximum number of unanswered loads.
    public var window: UInt32
    /// The maximum number of chunk bytes in flight in either direction; 0 for an older coordinator
    /// without chunks.
    public var chunkWindow: UInt32
    /// The number of words in the file of valid vouchers; 0 if there is none.
    public var voucherWords: UInt32
    /// The coordinator's monotonic clock; voucher times are meaningless on any other clock.
    public var clock: Instant
    /// The maximum number of loads per message; 0 for an older coordinator without batches.
    public var loadsMax: UInt32

    /// Creates an acceptance.
    public init(
        epoch: Epoch, window: UInt32, chunkWindow: UInt32 = 0, voucherWords: UInt32 = 0,
        clock: Instant = Instant(nanoseconds: 0), loadsMax: UInt32 = 0
    ) {
        self.loadsMax = loadsMax
        self.voucherWords = voucherWords
        self.clock = clock
        self.epoch = epoch
        self.window = window
        self.chunkWindow = chunkWindow
    }
}

/// The progress of a request.
public struct RequestProgress: Hashable, Sendable {
    /// The request.
    public var token: Token
    /// Bytes received so far.
    public var received: UInt64
    /// Total bytes; 0 if unknown.
    public var expected: UInt64
    /// The properties from the header, as soon as they are known, repeated in each later event;
    /// `nil` before that, and if not requested.
    public var info: ImageInfo?

    /// Creates a progress event.
    public init(token: Token, received: UInt64, expected: UInt64, info: ImageInfo? = nil) {
        self.token = token
        self.received = received
        self.expected = expected
        self.info = info
    }
}

/// A reply to a request. Non-terminal replies may precede the terminal one: the cached image under
/// `refreshCached`, and partial images under `progressiveLoad`.
public struct Reply: Hashable, Sendable {
    /// The request.
    public var token: Token
    /// The outcome.
    public var outcome: Outcome
    /// The time spent in each stage.
    public var timings: StageTimings
    /// Whether the image is cached and being revalidated with the origin; the terminal reply
    /// follows (SEMANTICS §6.1).
    public var isRefreshing: Bool
    /// For a partial image, the number of source bytes it was decoded from while the rest is still
    /// arriving; `nil` for a complete image (SEMANTICS §2.11).
    public var arrivedBytes: UInt64?

    /// Whether this is the last reply to the request.
    public var isTerminal: Bool { !isRefreshing && arrivedBytes == nil }

    /// The outcome of a request.
    public indirect enum Outcome: Hashable, Sendable {
        /// An image.
        case image(DeliveredImage)
        /// A miss under `fromCacheOnly`, which is not an error.
        case miss(key: String)
        /// An error.
        case failure(ImageError)
        /// The end of a request after a refreshing reply: the delivered image is still current.
        case notModified
    }

    /// Creates a reply.
    public init(
        token: Token, outcome: Outcome, timings: StageTimings = StageTimings(),
        isRefreshing: Bool = false, arrivedBytes: UInt64? = nil
    ) {
        self.arrivedBytes = arrivedBytes
        self.token = token
        self.outcome = outcome
        self.timings = timings
        self.isRefreshing = isRefreshing
    }
}

/// A delivered image.
public struct DeliveredImage: Hashable, Sendable {
    /// The bytes in `results/`; `nil` if only properties were requested.
    public var reference: BlockReference?
    /// The basic properties of the image.
    public var info: ImageInfo
    /// The requested additional properties; `nil` if none were requested.
    public var properties: ImageProperties?
    /// The tier that contained the image, or the original it was produced from; none if the
    /// original was fetched.
    public var cacheType: CacheTypes
    /// The cache key.
    public var key: String
    /// Under `waitStoreCache`: the tiers that contain the image.
    public var storedTiers: CacheTypes?
    /// Whether the block is not held for this client: the client must copy the bytes, check the
    /// block's ID afterwards, and not release it (PROTOCOL §10, unreleased bytes are limited).
    public var mustCopy: Bool
    /// Points per pixel, at least 1 (SEMANTICS §4.8).
    public var scaleFactor: Double
    /// If this is the fallback, the error of the requested image.
    public var fallbackFor: ImageError?
    /// The number of bytes that were sent in chunks before this reply; there is no reference then.
    public var chunkBytes: UInt64?
    /// How the image was produced; `nil` if not requested.
    public var explanation: Explanation? {
        get { explained.first }
        set { explained = newValue.map { [$0] } ?? [] }
    }
    /// At most one element. Most images have none, and an empty array is small.
    private var explained: [Explanation] = []
    /// How long the image may be used; `nil` if not requested.
    public var validity: Validity? {
        get { valid.first }
        set { valid = newValue.map { [$0] } ?? [] }
    }
    private var valid: [Validity] = []
    /// The digest of the bytes (SEMANTICS §5.22); `nil` if unknown.
    public var digest: ContentDigest?
    /// The extended data stored with the entry; `nil` if not requested or absent.
    public var extendedData: ExtendedData? {
        get { extended.first }
        set { extended = newValue.map { [$0] } ?? [] }
    }
    private var extended: [ExtendedData] = []
    /// The voucher for repeating the reply without a request; `nil` for none.
    public var voucher: Voucher?
    /// Whether the source was damaged, so that pixels are missing.
    public var isDamaged = false

    /// Creates a delivery.
    public init(
        reference: BlockReference?, info: ImageInfo, cacheType: CacheTypes, key: String,
        storedTiers: CacheTypes? = nil, mustCopy: Bool = false, chunkBytes: UInt64? = nil,
        scaleFactor: Double = 1, fallbackFor: ImageError? = nil, properties: ImageProperties? = nil
    ) {
        self.reference = reference
        self.info = info
        self.properties = properties
        self.cacheType = cacheType
        self.key = key
        self.storedTiers = storedTiers
        self.mustCopy = mustCopy
        self.chunkBytes = chunkBytes
        self.scaleFactor = scaleFactor
        self.fallbackFor = fallbackFor
    }
}

/// The time in milliseconds of each stage of a request; 0 if the stage was skipped.
public struct StageTimings: Hashable, Sendable {
    /// Waiting for workers, in all stages together.
    public var queue = 0.0
    /// Cache queries.
    public var query = 0.0
    /// The transfer.
    public var fetch = 0.0
    /// The decode.
    public var decode = 0.0
    /// Steps and encoding.
    public var transform = 0.0
    /// The copy into `results/` and, under `waitStoreCache`, the disk.
    public var store = 0.0
    /// From admission to reply.
    public var total = 0.0

    /// Creates timings of zero.
    public init() {}
}

/// How long an image may be used, and the validators of its origin (SEMANTICS §6.5).
public struct Validity: Hashable, Sendable {
    /// The expiry for the client; `nil` if unknown. Only in replies.
    public var expiry: HTTPExpiry?
    /// The caching information of the origin; `nil` if unknown or not respected.
    public var caching: OriginCaching?
    /// The origin's entity tag of the source; in messages between workers and the coordinator it
    /// may be a placeholder.
    public var etag: String?
    /// The origin's `Last-Modified` of the source.
    public var lastModified: String?
    /// The error because of which a stale image was delivered (`stale-if-error`); `nil` otherwise.
    public var originFailure: ImageError?

    /// Creates a validity.
    public init(
        expiry: HTTPExpiry? = nil, caching: OriginCaching? = nil, etag: String? = nil,
        lastModified: String? = nil, originFailure: ImageError? = nil
    ) {
        (self.expiry, self.caching) = (expiry, caching)
        self.etag = etag
        self.lastModified = lastModified
        self.originFailure = originFailure
    }

    /// The validity of a cache entry.
    package init(_ metadata: StoredMetadata) {
        self.init(
            caching: metadata.caching, etag: metadata.etag, lastModified: metadata.lastModified)
    }
}

/// How a delivered image was produced (SEMANTICS §11.24). For people and tests: no decision depends
/// on what workers report here.
public struct Explanation: Hashable, Sendable {
    /// The stages of the load in order; sources of the image are tried until one has it.
    public var plan: [String]
    /// The keys of the steps in order, the thumbnail first, as modified by profile and rules; for
    /// an overlay only the name. Each up to `MessageLimits.textBytesMax` bytes.
    public var steps: [String]
    /// The encoder settings besides the format, by name; empty if nothing was encoded.
    public var settings: [String: String]
    /// The details of the transfer; `nil` if nothing was fetched.
    public var fetched: FetchAccount?
    /// The details of the decode; `nil` if nothing was decoded.
    public var decoded: DecodeAccount?
    /// The details of the transformation; `nil` if nothing was encoded.
    public var transformed: TransformAccount?

    /// Creates an explanation; by default nothing was fetched, decoded or encoded.
    public init(
        plan: [String] = [], steps: [String] = [], settings: [String: String] = [:],
        fetched: FetchAccount? = nil, decoded: DecodeAccount? = nil,
        transformed: TransformAccount? = nil
    ) {
        self.fetched = fetched
        self.plan = plan
        self.steps = steps
        self.settings = settings
        self.decoded = decoded
        self.transformed = transformed
    }
}

/// The details of a decode.
public struct DecodeAccount: Hashable, Sendable {
    /// The format of the source.
    public var format: ImageFormat
    /// The displayed size of the source.
    public var size: PixelSize
    /// The decoded columns and rows, in stored orientation.
    public var pixels: PixelSize
    /// Decoded columns per source column: 1 for full resolution, 0.125 for a scale of 1/8; above 1
    /// for vector drawings.
    public var scale: Double
    /// Whether the decoder output separate planes of luma and chroma.
    public var isPlanar: Bool

    /// Creates decode details.
    public init(
        format: ImageFormat, size: PixelSize, pixels: PixelSize, scale: Double, isPlanar: Bool
    ) {
        self.format = format
        self.size = size
        self.pixels = pixels
        self.scale = scale
        self.isPlanar = isPlanar
    }

    /// The details of pixels with this layout; `nil` for a layout without planes.
    package init?(_ info: ImageInfo, _ layout: PixelLayout) {
        guard let first = layout.planes.first else { return nil }
        let stored = layout.orientation.transposes ? info.size.transposed : info.size
        self.init(
            format: info.format, size: info.size, pixels: first.size,
            scale: first.activeWidth / Double(max(1, stored.width)),
            isPlanar: layout.planes.count > 1)
    }
}

/// The details of a transformation.
public struct TransformAccount: Hashable, Sendable {
    /// Whether planes were encoded without interleaving (the planar lane of SEMANTICS §11.5).
    public var isPlanar: Bool
    /// The number of leading steps that were folded into a single resampling of the planes.
    public var foldedSteps: UInt32
    /// The number of encoding attempts; 0 if unknown.
    public var attempts: UInt32
    /// The quality, 0 to 100, chosen to meet a byte limit; `nil` if there was no limit.
    public var quality: UInt32?

    /// Creates transformation details; unknown by default.
    public init(
        isPlanar: Bool = false, foldedSteps: UInt32 = 0, attempts: UInt32 = 0,
        quality: UInt32? = nil
    ) {
        self.quality = quality
        self.isPlanar = isPlanar
        self.foldedSteps = foldedSteps
        self.attempts = attempts
    }
}

/// The details of a transfer. For people and tests: no decision depends on what a worker reports
/// here.
public struct FetchAccount: Hashable, Sendable {
    /// For the last transfer, milliseconds from its start until name resolution, connection, TLS
    /// handshake and first byte. 0 for a step that was unnecessary: no name, a reused connection,
    /// no TLS.
    public var (name, connect, tls, firstByte) = (0.0, 0.0, 0.0, 0.0)
    /// Milliseconds from the start of the first transfer to the end of the last one.
    public var total = 0.0
    /// Bytes of the last transfer, before content decoding.
    public var bytes: UInt64 = 0
    /// The HTTP version, such as `1.1` or `2`; empty if unknown.
    public var httpVersion = ""
    /// The remote address and port, such as `203.0.113.7:443`; empty if unknown.
    public var address = ""
    /// Whether an existing connection was reused.
    public var isReused = false
    /// The number of redirects followed.
    public var redirects: UInt32 = 0
    /// The number of times an interrupted transfer was resumed.
    public var continuations: UInt32 = 0

    /// Creates empty details.
    public init() {}
}

/// A timed phase of a transfer.
public enum TransferPhase: String, Hashable, Sendable, CaseIterable {
    /// Name resolution.
    case name
    /// Connection, after name resolution.
    case connect
    /// TLS handshake, after the connection.
    case tls
    /// Time to the first byte of the response, after the previous phases.
    case firstByte
    /// The whole download, including redirects and interrupted transfers.
    case total
}

extension FetchAccount {
    /// Returns the duration of a phase in milliseconds; `nil` if it did not occur. The fields count
    /// from the start of the transfer, phases from the end of the previous phase.
    public func milliseconds(of phase: TransferPhase) -> Double? {
        switch phase {
        case .name: Self.span(to: name, from: 0)
        case .connect: Self.span(to: connect, from: name)
        case .tls: Self.span(to: tls, from: connect)
        case .firstByte: Self.span(to: firstByte, from: max(name, connect, tls))
        case .total: Self.span(to: total, from: 0)
        }
    }

    private static func span(to end: Double, from begin: Double) -> Double? {
        end > 0 ? max(0, end - begin) : nil
    }
}
