/// SDWebImage's context options by name: what a request may say besides its
/// option bits. PROTOCOL §8.5 says what became of each.
public enum ContextKey: String, Hashable, Sendable, CaseIterable {
    /// The slot of the load.
    case setImageOperationKey = "set-image-operation-key"
    /// The profile of the configuration.
    case customManager = "custom-manager"
    /// Where a Swift client calls back; never on the wire.
    case callbackQueue = "callback-queue"
    /// The named cache of the result.
    case imageCache = "image-cache"
    /// The loader.
    case imageLoader = "image-loader"
    /// Who decodes.
    case imageCoder = "image-coder"
    /// The steps, or `none` against the configuration's.
    case imageTransformer = "image-transformer"
    /// Whether pixels are made at once.
    case imageForceDecodePolicy = "image-force-decode-policy"
    /// Words for the decoder.
    case imageDecodeOptions = "image-decode-options"
    /// Points per pixel, as a fact of the reply.
    case imageScaleFactor = "image-scale-factor"
    /// Whether a thumbnail keeps its shape.
    case imagePreserveAspectRatio = "image-preserve-aspect-ratio"
    /// The box of a thumbnail.
    case imageThumbnailPixelSize = "image-thumbnail-pixel-size"
    /// What the bytes are.
    case imageTypeIdentifierHint = "image-type-identifier-hint"
    /// Bytes of the bitmap at most.
    case imageScaleDownLimitBytes = "image-scale-down-limit-bytes"
    /// High dynamic range.
    case imageDecodeToHDR = "image-decode-to-hdr"
    /// Words for the encoder.
    case imageEncodeOptions = "image-encode-options"
    /// Tiers asked for the result.
    case queryCacheType = "query-cache-type"
    /// Tiers that keep the result.
    case storeCacheType = "store-cache-type"
    /// Tiers asked for the original.
    case originalQueryCacheType = "original-query-cache-type"
    /// Tiers that keep the original.
    case originalStoreCacheType = "original-store-cache-type"
    /// The named cache of the original.
    case originalImageCache = "original-image-cache"
    /// What an animation becomes: all its frames, or one.
    case animatedImageClass = "animated-image-class"
    /// A change of the request to the origin.
    case downloadRequestModifier = "download-request-modifier"
    /// A change of the origin's answer.
    case downloadResponseModifier = "download-response-modifier"
    /// What decrypts the body.
    case downloadDecryptor = "download-decryptor"
    /// A named filter of cache keys.
    case cacheKeyFilter = "cache-key-filter"
    /// What is written instead of the bytes.
    case cacheSerializer = "cache-serializer"

    /// Those that this version refuses with `notSupported`.
    public static let notSupported: Set<ContextKey> = [
        .downloadRequestModifier, .downloadResponseModifier, .downloadDecryptor,
    ]

    /// Those that are taken, whatever their value, and change nothing: pixels are made where they
    /// are needed and at no other time, and the first bytes of a file say what it is.
    public static let withoutEffect: Set<ContextKey> = [
        .imageForceDecodePolicy, .imageTypeIdentifierHint,
    ]
}
