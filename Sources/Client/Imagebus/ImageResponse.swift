public import ImageModel
public import Messages

/// How a load ended well. A copy of it costs little: it shares the bytes, and what is said of them.
public struct ImageResponse: Sendable {
    /// Whether there is an image.
    public enum Status: String, Hashable, Sendable {
        /// There is.
        case ok
        /// `fromCacheOnly`, and no cache has it: no error.
        case miss
    }

    let account: ImageAccount

    /// Whether there is an image.
    public var status: Status { account.status }
    /// What it is; `nil` for a miss.
    public var info: ImageInfo? { account.info }
    /// Facts that were asked for (`ImageRequest.facts`); `nil` for a miss and where none were.
    public var facts: ImageFacts? { account.facts }
    /// How the image came about (`ImageRequest.wantsExplanation`); `nil` for a miss and where
    /// nobody asked.
    public var explanation: Explanation? { account.explanation }
    /// Which tier had it, or the original of which it was made (`timings.transform` is not 0 then);
    /// none where that was fetched, and for a miss.
    public var cacheType: CacheTypes { account.cacheType }
    /// The text of its cache key.
    public var key: String { account.key }
    /// Where the time went.
    public var timings: StageTimings { account.timings }
    /// The encoded bytes; `nil` for a miss and where only facts were asked for.
    public internal(set) var bytes: ImageBytes?
    /// Under `waitStoreCache`, the tiers that have it.
    public var storedTiers: CacheTypes? { account.storedTiers }
    /// Points per pixel: of the request, else by its key; 1 for a miss.
    public var scaleFactor: Double { account.scaleFactor }
    /// Why this is the fallback of the request (`RequestContext.fallback`); `nil`: it is the image.
    public var fallbackFor: ImageError? { account.fallbackFor }
    /// Until when it may be used as its origin says, and by what that knows it again
    /// (`RequestOptions.respectCacheControl`, `ImageRequest.wantsExplanation`); `nil` where nobody
    /// asked, and where nothing is known.
    public var validity: Validity? { account.validity }
    /// SHA-256 of the bytes (SEMANTICS §5.22); `nil` where only facts were asked for that no entry
    /// answered.
    public var digest: ContentDigest? { account.digest }
    /// The bytes that were put with the entry, or with the one it was made of
    /// (`RequestContext.wantsExtendedData`); `nil` if nobody asked, or there are none.
    public var extendedData: ExtendedData? { account.extendedData }
    /// Whether the source is damaged and its missing pixels are transparent, black or grey
    /// (`RequestContext.damaged`).
    public var isDamaged: Bool { account.isDamaged }
    /// The image is partial: it was made of so many bytes of its source, and the load goes on
    /// (`RequestOptions.progressiveLoad`); `nil` for a whole image.
    public internal(set) var arrivedBytes: UInt64?
    /// Says whether this answer still stands; `nil` for one that may not be given again without
    /// asking.
    public internal(set) var voucher: AnswerVoucher?
    /// Whether it takes the place of a cached image, which `LoadTask.cachedResponse` has
    /// (`refreshCached`).
    public internal(set) var isRefreshed = false

    init(_ account: ImageAccount, _ bytes: ImageBytes?) {
        (self.account, self.bytes) = (account, bytes)
    }
}
