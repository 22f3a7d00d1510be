/// What a request says about manager, caches, keys and replies besides its options
/// (PROTOCOL §8.5). The configuration of the coordinator knows the names.
public struct RequestContext: Hashable, Sendable {
    /// The profile whose defaults and rules hold (`customManager`); `nil`: the default one.
    public var profile: String?
    /// The cache of the result (`imageCache`); `nil`: the profile's.
    public var cache: String?
    /// The cache of the original (`originalImageCache`); `nil`: that of the result.
    public var originalCache: String?
    /// Who obtains the bytes (`imageLoader`); `nil`: the profile's.
    public var loader: String?
    /// What takes the place of the URL in cache keys (`cacheKeyFilter`).
    public var key: BaseKey?
    /// What is written under the keys (`cacheSerializer`); the reply is not changed by it.
    public var serializer: Serializer?
    /// Points per pixel, at least 1, a fact of the reply (`imageScaleFactor`); `nil`: by `@2x.` or
    /// `@3x.` in the key.
    public var scaleFactor: Double?
    /// Bytes of pixels at most, four each: a larger image is scaled down, and there is no thumbnail
    /// then (`imageScaleDownLimitBytes`); `nil`: as the option `scaleDownLargeImages` says.
    public var scaleDownLimit: Int?
    /// Whether colours of a high dynamic range are kept where the output holds them
    /// (`imageDecodeToHDR`): as the output's `keepsHDR`, where something is encoded.
    public var decodesToHDR: Bool
    /// Words for the encoder (`imageEncodeOptions`); `nil` says nothing.
    public var encodeOptions: EncodeOptions?
    /// Steps and output by name, for a request that has none.
    public var preset: String?
    /// Whether the configuration's steps are not for this request (`imageTransformer`: none).
    public var withoutTransformer: Bool
    /// What is delivered instead where the load fails; `nil`: the profile's.
    public var fallback: Fallback?
    /// What becomes of a damaged image; `nil`: what the profile says.
    public var damaged: DamagedImages?
    /// Tags of the entries that are stored for it, `CacheTag.countMax` at most; in no key
    /// (SEMANTICS §5.20).
    public var tags: [String]
    /// Bytes to be kept with the entry that is put; no other request has any (SEMANTICS §5.21).
    public var extendedData: ExtendedData?
    /// Whether the reply has the extended data of the entry that answers.
    public var wantsExtendedData: Bool
    /// Who decodes (`imageCoder`): a pool of kind decode; `nil`: the profile's coders.
    public var coder: String? {
        get { others[ContextKey.imageCoder.rawValue] }
        set { others[ContextKey.imageCoder.rawValue] = newValue }
    }
    /// Options of SDWebImage that have no field here, by name; admission refuses those that it
    /// does not know.
    public var others: [String: String]

    /// Says nothing.
    public init() {
        withoutTransformer = false
        decodesToHDR = false
        tags = []
        wantsExtendedData = false
        others = [:]
    }

    /// Whether it says nothing.
    public var isEmpty: Bool { self == RequestContext() }
}
