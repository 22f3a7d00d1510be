public import ImageModel
public import Messages

/// How a load ended well.
public struct ImageResponse: Sendable {
    /// Whether there is an image.
    public enum Status: String, Hashable, Sendable {
        /// There is.
        case ok
        /// `fromCacheOnly`, and no cache has it: no error.
        case miss
    }

    /// Whether there is an image.
    public let status: Status
    /// What it is; `nil` for a miss.
    public let info: ImageInfo?
    /// Facts that were asked for (`ImageRequest.facts`); `nil` for a miss and where none were.
    public let facts: ImageFacts?
    /// How the image came about (`ImageRequest.wantsExplanation`); `nil` for a miss and where
    /// nobody asked.
    public let explanation: Explanation?
    /// Which tier had it, or the original of which it was made (`timings.transform` is not 0 then);
    /// none where that was fetched, and for a miss.
    public let cacheType: CacheTypes
    /// The text of its cache key.
    public let key: String
    /// Where the time went.
    public let timings: StageTimings
    /// The encoded bytes; `nil` for a miss and where only facts were asked for.
    public internal(set) var bytes: ImageBytes?
    /// Under `waitStoreCache`, the tiers that have it.
    public let storedTiers: CacheTypes?
    /// Points per pixel: of the request, else by its key; 1 for a miss.
    public let scaleFactor: Double
    /// Why this is the fallback of the request (`RequestContext.fallback`); `nil`: it is the image.
    public let fallbackFor: ImageError?
    /// Until when it may be used as its origin says, and by what that knows it again
    /// (`RequestOptions.respectCacheControl`, `ImageRequest.wantsExplanation`); `nil` where nobody
    /// asked, and where nothing is known.
    public internal(set) var validity: Validity?
    /// SHA-256 of the bytes (SEMANTICS §5.22); `nil` where only facts were asked for that no entry
    /// answered.
    public internal(set) var digest: ContentDigest?
    /// The bytes that who put the entry left with it (`RequestContext.wantsExtendedData`); `nil`
    /// where nobody asked, and where there are none.
    public internal(set) var extendedData: ExtendedData?
    /// The image is partial: it was made of so many bytes of its source, and the load goes on
    /// (`RequestOptions.progressiveLoad`); `nil` for a whole image.
    public internal(set) var arrivedBytes: UInt64?
    /// Says whether this answer still stands; `nil` for one that may not be given again without
    /// asking.
    public internal(set) var voucher: AnswerVoucher?
    /// Whether it takes the place of a cached image, which `LoadTask.cachedResponse` has
    /// (`refreshCached`).
    public internal(set) var isRefreshed = false
}
