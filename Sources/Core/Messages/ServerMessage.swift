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
