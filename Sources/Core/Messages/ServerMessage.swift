public import ImageModel

/// What the coordinator says to a client (PROTOCOL §8.2).
public enum ServerMessage: Hashable, Sendable {
    /// Answers `hello`.
    case welcome(ClientWelcome)
    /// The sender is unknown: introduce yourself first.
    case helloRequired
    /// How far a request is; never after its terminal reply.
    case progress(RequestProgress)
    /// The end of a request.
    case reply(Reply)
    /// Answers `status`.
    case status(StatusReport)
    /// Answers `blacklist`.
    case blacklist(BlacklistReport)
    /// Answers `cache`.
    case cache(CacheReport)
    /// A part of the bytes of an image, before its reply.
    case piece(Piece)
    /// So many bytes of pieces were taken.
    case taken(UInt64)
    /// How far a prefetch is, and its end.
    case prefetched(PrefetchReport)
    /// Answers `drain`: so many processes were told.
    case draining(UInt32)
    /// The message broke the protocol; `token` of the request that it was about, if known.
    case refused(ImageError, Token?)
}

/// The coordinator accepts a client.
public struct ClientWelcome: Hashable, Sendable {
    /// This life of the coordinator. Under another epoch than before a client sends again what has
    /// no terminal reply and was not cancelled.
    public var epoch: Epoch
    /// Loads that may be sent without a reply.
    public var window: UInt32
    /// Bytes of pieces that may be on the way in either direction; 0: an earlier coordinator, which
    /// knows no pieces.
    public var pieceWindow: UInt32
    /// Words of the file that says which vouchers stand; 0: there is none.
    public var voucherWords: UInt32
    /// The coordinator's monotonic clock: by another one moments of vouchers say nothing.
    public var clock: Instant
    /// Loads that may be in one message; 0: an earlier coordinator, which takes them one by one.
    public var loadsMax: UInt32

    /// An acceptance.
    public init(
        epoch: Epoch, window: UInt32, pieceWindow: UInt32 = 0, voucherWords: UInt32 = 0,
        clock: Instant = Instant(nanoseconds: 0), loadsMax: UInt32 = 0
    ) {
        self.loadsMax = loadsMax
        self.voucherWords = voucherWords
        self.clock = clock
        self.epoch = epoch
        self.window = window
        self.pieceWindow = pieceWindow
    }
}

/// How far a request is.
public struct RequestProgress: Hashable, Sendable {
    /// Which request.
    public var token: Token
    /// Bytes so far.
    public var received: UInt64
    /// Bytes in all; 0 where unknown.
    public var expected: UInt64
    /// What the header says, as soon as it is there, and in each later event; `nil` before, and
    /// where it was not wanted.
    public var info: ImageInfo?

    /// Describes progress.
    public init(token: Token, received: UInt64, expected: UInt64, info: ImageInfo? = nil) {
        self.token = token
        self.received = received
        self.expected = expected
        self.info = info
    }
}

/// The terminal reply of a request. Before it others may come that are not terminal: the cached
/// image under `refreshCached`, and partial images under `progressiveLoad`.
public struct Reply: Hashable, Sendable {
    /// Which request.
    public var token: Token
    /// How it ended.
    public var outcome: Outcome
    /// Where the time went.
    public var timings: StageTimings
    /// The image was cached, and the origin is being asked whether it is still the same: the
    /// terminal reply follows (SEMANTICS §6.1).
    public var isRefreshing: Bool
    /// The image is partial: it was made of so many bytes of the source, and the rest is still
    /// coming. `nil` for a whole image (SEMANTICS §2.11).
    public var arrivedBytes: UInt64?

    /// Whether nothing more comes of the request.
    public var isTerminal: Bool { !isRefreshing && arrivedBytes == nil }

    /// How a request ended.
    public indirect enum Outcome: Hashable, Sendable {
        /// An image.
        case image(DeliveredImage)
        /// `fromCacheOnly`, and no cache has it: no error.
        case miss(key: String)
        /// A failure.
        case failure(ImageError)
        /// Ends a request after a reply that was refreshing: what was delivered is still right.
        case notModified
    }

    /// Describes an end.
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

/// An image that is there.
public struct DeliveredImage: Hashable, Sendable {
    /// The bytes in `results/`; `nil` where only facts were wanted.
    public var reference: BlockReference?
    /// What they are.
    public var info: ImageInfo
    /// Facts that were asked for; `nil` where none were.
    public var facts: ImageFacts?
    /// Which tier had it, or the original of which it was made: none means that that was fetched.
    public var cacheType: CacheTypes
    /// The text of its cache key.
    public var key: String
    /// Under `waitStoreCache`: the tiers that have it.
    public var storedTiers: CacheTypes?
    /// The block is not kept for this client, however large: copy the bytes, then check the block's
    /// id, and do not release it (PROTOCOL §10, unreleased bytes are limited).
    public var mustCopy: Bool
    /// Points per pixel, at least 1 (SEMANTICS §4.8).
    public var scaleFactor: Double
    /// Why this is the fallback and not what was asked for.
    public var fallbackFor: ImageError?
    /// The bytes came in pieces before this reply, so many; there is no reference then.
    public var pieceBytes: UInt64?
    /// How it came about; `nil` where nobody asked.
    public var explanation: Explanation? {
        get { explained.first }
        set { explained = newValue.map { [$0] } ?? [] }
    }
    /// At most one: most images have none, and an empty list takes little room.
    private var explained: [Explanation] = []
    /// Until when it may be used; `nil` where nobody asked.
    public var validity: Validity? {
        get { valid.first }
        set { valid = newValue.map { [$0] } ?? [] }
    }
    private var valid: [Validity] = []
    /// Of the bytes (SEMANTICS §5.22); `nil` where it is not known.
    public var digest: ContentDigest?
    /// The bytes that who put the entry left with it; `nil` where nobody asked, and where there are
    /// none.
    public var extendedData: ExtendedData? {
        get { extended.first }
        set { extended = newValue.map { [$0] } ?? [] }
    }
    private var extended: [ExtendedData] = []
    /// By what the client may repeat it without asking; `nil`: it may not.
    public var voucher: Voucher?
    /// Whether it was made of a damaged source, of which pixels are missing.
    public var isDamaged = false

    /// Describes a delivery.
    public init(
        reference: BlockReference?, info: ImageInfo, cacheType: CacheTypes, key: String,
        storedTiers: CacheTypes? = nil, mustCopy: Bool = false, pieceBytes: UInt64? = nil,
        scaleFactor: Double = 1, fallbackFor: ImageError? = nil, facts: ImageFacts? = nil
    ) {
        self.reference = reference
        self.info = info
        self.facts = facts
        self.cacheType = cacheType
        self.key = key
        self.storedTiers = storedTiers
        self.mustCopy = mustCopy
        self.pieceBytes = pieceBytes
        self.scaleFactor = scaleFactor
        self.fallbackFor = fallbackFor
    }
}

/// Milliseconds of the stages that a request went through; 0 where it did not.
public struct StageTimings: Hashable, Sendable {
    /// Waiting for workers, all stages together.
    public var queue = 0.0
    /// Cache queries.
    public var query = 0.0
    /// The transfer.
    public var fetch = 0.0
    /// The decode.
    public var decode = 0.0
    /// Steps and encode.
    public var transform = 0.0
    /// The copy into `results/` and, under `waitStoreCache`, the disk.
    public var store = 0.0
    /// From admission to reply.
    public var total = 0.0

    /// All zero.
    public init() {}
}

/// How long an image may be used, and by what its origin knows it again (SEMANTICS §6.5).
public struct Validity: Hashable, Sendable {
    /// Until when who asked may use it; `nil` where that is not known. In replies alone.
    public var expiry: HTTPExpiry?
    /// What its origin says of caching; `nil` where that is not known, or does not count.
    public var caching: OriginCaching?
    /// The origin's entity tag, of the source; in messages between workers and coordinator it may
    /// be a mark in its place.
    public var etag: String?
    /// When the origin last changed the source, in its words.
    public var lastModified: String?
    /// Why it was delivered although it is stale (`stale-if-error`); `nil`: for no such reason.
    public var originFailure: ImageError?

    /// Says what is known.
    public init(
        expiry: HTTPExpiry? = nil, caching: OriginCaching? = nil, etag: String? = nil,
        lastModified: String? = nil, originFailure: ImageError? = nil
    ) {
        (self.expiry, self.caching) = (expiry, caching)
        self.etag = etag
        self.lastModified = lastModified
        self.originFailure = originFailure
    }

    /// That of what the cache keeps.
    package init(_ metadata: StoredMetadata) {
        self.init(
            caching: metadata.caching, etag: metadata.etag, lastModified: metadata.lastModified)
    }
}

/// How a delivered image came about (SEMANTICS §11.24). For people and tests: nothing depends on
/// what workers say here.
public struct Explanation: Hashable, Sendable {
    /// The stages that the load may go through, in order; ways to the image are tried until one has
    /// it.
    public var plan: [String]
    /// Keys of the steps in order, the thumbnail first, as profile and rules made them; of an
    /// overlay the name alone. Each up to `MessageLimits.textBytesMax` bytes.
    public var steps: [String]
    /// What the encoder was told besides the format, by name; empty where nothing was encoded.
    public var settings: [String: String]
    /// How the source came; `nil`: it was not fetched.
    public var fetched: FetchAccount?
    /// What was decoded; `nil`: nothing was.
    public var decoded: DecodeAccount?
    /// How it was made; `nil`: nothing was encoded.
    public var transformed: TransformAccount?

    /// Nothing was fetched, decoded or encoded.
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

    /// Stages, steps and settings at most.
    package static let (stagesMax, stepsMax, settingsMax) = (16, RequestLimits.stepsMax + 1, 32)
}

/// What was decoded for an image.
public struct DecodeAccount: Hashable, Sendable {
    /// Of the source.
    public var format: ImageFormat
    /// Of the source, as it is displayed.
    public var size: PixelSize
    /// Columns and rows that were decoded, as they lie.
    public var pixels: PixelSize
    /// Decoded columns for each of the source: 1 is all of them, 0.125 a scale of 1/8; above 1 for
    /// what is drawn.
    public var scale: Double
    /// Whether brightness and colours came as planes of their own.
    public var isPlanar: Bool

    /// An account of a decode.
    public init(
        format: ImageFormat, size: PixelSize, pixels: PixelSize, scale: Double, isPlanar: Bool
    ) {
        self.format = format
        self.size = size
        self.pixels = pixels
        self.scale = scale
        self.isPlanar = isPlanar
    }

    /// That of pixels that lie like this; `nil` for a layout without planes.
    package init?(_ info: ImageInfo, _ layout: PixelLayout) {
        guard let first = layout.planes.first else { return nil }
        let stored = layout.orientation.transposes ? info.size.transposed : info.size
        self.init(
            format: info.format, size: info.size, pixels: first.size,
            scale: first.activeWidth / Double(max(1, stored.width)),
            isPlanar: layout.planes.count > 1)
    }
}

/// How a transformer made an image.
public struct TransformAccount: Hashable, Sendable {
    /// Whether planes were encoded as planes (the planar lane of SEMANTICS §11.5).
    public var isPlanar: Bool
    /// So many steps, the first ones, were one sampling of planes.
    public var foldedSteps: UInt32
    /// How often it was encoded; 0: not known.
    public var attempts: UInt32
    /// The quality, 0 to 100, that was found for a limit of bytes; `nil` where none was looked for.
    public var quality: UInt32?

    /// An account of a transformation; nothing is known unless it is said.
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

/// How a body came from its origin. For people and tests: nothing depends on what a worker says
/// here.
public struct FetchAccount: Hashable, Sendable {
    /// Of the last transfer, counted from its begin: when the name had addresses, when it was
    /// connected, when TLS was there, and when the first byte came, in milliseconds. 0 where there
    /// was nothing to be done: no name, a connection of before, no TLS.
    public var (name, connect, tls, firstByte) = (0.0, 0.0, 0.0, 0.0)
    /// From the begin of the first transfer to the end of the last one, in milliseconds.
    public var total = 0.0
    /// Bytes of the last transfer, content codings not undone.
    public var bytes: UInt64 = 0
    /// The version of HTTP, such as `1.1` or `2`; empty where it is not known.
    public var httpVersion = ""
    /// Address and port that were asked, such as `203.0.113.7:443`; empty where it is not known.
    public var address = ""
    /// Whether the connection was there before.
    public var isReused = false
    /// Redirects that were followed.
    public var redirects: UInt32 = 0
    /// How often it broke off and went on.
    public var continuations: UInt32 = 0

    /// Nothing is known.
    public init() {}
}

/// A part of a transfer that is timed.
public enum TransferPhase: String, Hashable, Sendable, CaseIterable {
    /// Until the name had addresses.
    case name
    /// From there until it was connected.
    case connect
    /// From there until TLS was there.
    case tls
    /// From there until the first byte of the answer.
    case firstByte
    /// The whole download: redirects, and what broke off.
    case total
}

extension FetchAccount {
    /// How long a phase took, in milliseconds; `nil` where it did not take place. The fields
    /// count from the begin of the transfer, phases from the end of the phase before.
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
