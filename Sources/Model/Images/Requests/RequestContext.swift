/// Settings of a request for manager, caches, keys and replies, in addition to its options
/// (PROTOCOL §8.5). Names are resolved by the configuration of the coordinator.
public struct RequestContext: Hashable, Sendable {
    /// The profile whose defaults and rules apply (`customManager`); `nil` for the default one.
    public var profile: String?
    /// The cache of the result (`imageCache`); `nil` for the profile's.
    public var cache: String?
    /// The cache of the original (`originalImageCache`); `nil` for that of the result.
    public var originalCache: String?
    /// The loader (`imageLoader`); `nil` for the profile's.
    public var loader: String?
    /// The replacement of the URL in cache keys (`cacheKeyFilter`).
    public var key: BaseKey?
    /// The serializer of stored bytes (`cacheSerializer`); the reply is not affected.
    public var serializer: Serializer?
    /// Points per pixel, at least 1, returned in the reply (`imageScaleFactor`); if `nil`,
    /// determined by `@2x.` or `@3x.` in the key.
    public var scaleFactor: Double?
    /// The maximum size of the pixels in bytes, four per pixel: a larger image is scaled down, and
    /// there is no thumbnail then (`imageScaleDownLimitBytes`); `nil` for the option
    /// `scaleDownLargeImages`.
    public var scaleDownLimit: Int?
    /// Whether high dynamic range colors are retained if the output supports them
    /// (`imageDecodeToHDR`): like the output's `keepsHDR`, if the image is encoded.
    public var decodesToHDR = false
    /// Encoder options (`imageEncodeOptions`); `nil` for none.
    public var encodeOptions: EncodeOptions?
    /// A named preset of steps and output, for a request that has none.
    public var preset: String?
    /// Whether the configured steps are not applied (`imageTransformer`: none).
    public var withoutTransformer = false
    /// The substitute to deliver if the load fails; `nil` for the profile's.
    public var fallback: Fallback?
    /// How a damaged image is handled; `nil` for the profile's choice.
    public var damaged: DamagedImages?
    /// Tags of the entries stored for this request, at most `CacheTag.countMax`; not part of any
    /// key (SEMANTICS §5.20).
    public var tags: [String] = []
    /// Bytes to store with an entry that is put; `nil` in all other requests (SEMANTICS §5.21).
    public var extendedData: ExtendedData?
    /// Whether the reply includes the extended data of the entry.
    public var wantsExtendedData = false
    /// The decoder (`imageCoder`): a pool of kind decode; `nil` for the profile's coders.
    public var coder: String? {
        get { others[ContextKey.imageCoder.rawValue] }
        set { others[ContextKey.imageCoder.rawValue] = newValue }
    }
    /// SDWebImage options without a field here, by name; admission rejects unknown ones.
    public var others: [String: String] = [:]

    /// Creates an empty context.
    public init() {}

    /// Whether nothing is set.
    public var isEmpty: Bool { self == RequestContext() }
}

extension RequestContext {
    /// Throws the first error found. Whether a name exists is checked by the configuration.
    public func check() throws(ImageError) {
        if isEmpty { return }
        for (name, value) in others.sorted(by: { $0.key < $1.key }) { try Self.check(name, value) }
        try Self.check(name: profile, "profile")
        try Self.check(name: cache, "cache")
        try Self.check(name: originalCache, "original cache")
        try Self.check(name: loader, "loader")
        try Self.check(name: preset, "preset")
        if let scaleFactor, !(scaleFactor.isFinite && scaleFactor >= 1) {
            throw ImageError(.invalidRequest, "the scale factor must be at least 1")
        }
        if let scaleDownLimit, !ScaleDownStep.traits.range.contains(scaleDownLimit) {
            throw ImageError(
                .invalidRequest,
                "the byte limit must be a number from 1 to \(RequestLimits.scaleDownBytesMax)")
        }
        try encodeOptions?.check()
        try CacheTag.check(tags)
        try extendedData?.check()
        try key?.check()
        if case .url(let url) = fallback { try Self.check(fallback: url) }
        if case .named(let name) = serializer { try Self.check(name: name, "serializer") }
        if case .transcode(let format, let quality) = serializer {
            guard format.isEncodable else { throw .notEncoded(format) }
            guard quality.map({ (0...100).contains($0) }) ?? true else {
                throw ImageError(.invalidRequest, "the quality must be a number from 0 to 100")
            }
        }
    }

    /// SDWebImage's other options are known but not supported; any other name is an error.
    private static func check(_ name: String, _ value: String) throws(ImageError) {
        guard let key = ContextKey(rawValue: name) else {
            throw ImageError(
                .invalidRequest,
                "the request has an unknown context option: use one that this version supports")
        }
        if ContextKey.withoutEffect.contains(key) { return }
        if key == .imageCoder { return try check(name: value, "coder") }
        guard ContextKey.notSupported.contains(key) else {
            let remedy = key.field.map { "set the field \($0) instead" } ?? "leave it out"
            throw ImageError(
                .invalidRequest,
                "the context option '\(name)' is not accepted in Context.others: \(remedy)")
        }
        throw ImageError.notSupported(name)
    }

    /// Whether the URL is permitted is checked when it is loaded, as for any other request.
    private static func check(fallback text: String) throws(ImageError) {
        do throws(ImageError) {
            let url = try SourceURL(text)
            try ImageError.require(url.userInfo == nil, "credentials are not supported")
        } catch {
            throw ImageError(.invalidRequest, "fallback URL: \(error.message)")
        }
    }

    /// Throws if the name is not `nil` and invalid; `what` is inserted into the message.
    public static func check(name: String?, _ what: String) throws(ImageError) {
        guard let name else { return }
        try ImageError.require(isName(name), "the name of a \(what) must have \(nameRule)")
    }

    /// The rule of `isName`, for error messages.
    public static let nameRule = "1 to \(RequestLimits.nameBytesMax) bytes without spaces"

    /// Returns whether the text is a valid name: 1 to `RequestLimits.nameBytesMax` bytes without
    /// spaces and control characters.
    public static func isName(_ text: String) -> Bool {
        !text.isEmpty && text.utf8.count <= RequestLimits.nameBytesMax
            && text.utf8.allSatisfy { $0 > 0x20 && $0 != 0x7F }
    }
}

extension ContextKey {
    /// The field of the protocol's messages that sets the option (PROTOCOL §8.5); `nil` if no
    /// single field does.
    fileprivate var field: String? {
        switch self {
        case .customManager: "Context.profile"
        case .imageCache: "Context.cache"
        case .originalImageCache: "Context.original_cache"
        case .imageLoader: "Context.loader"
        case .imageTransformer: "Context.preset or Context.without_transformer"
        case .cacheKeyFilter: "Context.key_filter or Context.base_key"
        case .cacheSerializer: "Context.serializer"
        case .imageScaleFactor: "Context.scale_factor"
        case .imageScaleDownLimitBytes: "Context.scale_down_limit"
        case .imageDecodeToHDR: "Context.decode_to_hdr"
        case .imageEncodeOptions: "Context.encode_options"
        case .imageThumbnailPixelSize, .imagePreserveAspectRatio: "ImageRequest.thumbnail"
        case .queryCacheType: "ImageRequest.query_cache_types"
        case .storeCacheType: "ImageRequest.store_cache_types"
        case .originalQueryCacheType: "ImageRequest.original_query_cache_types"
        case .originalStoreCacheType: "ImageRequest.original_store_cache_types"
        case .animatedImageClass: "ImageRequest.options"
        case .setImageOperationKey: "Load.slot"
        default: nil
        }
    }
}

extension BaseKey {
    fileprivate func check() throws(ImageError) {
        switch self {
        case .filter(let name): try RequestContext.check(name: name, "key filter")
        case .text(let text):
            try ImageError.require(
                Self.isText(text),
                "a cache key must have 1 to \(RequestLimits.urlBytesMax) bytes "
                    + "and no control characters")
        }
    }

    /// Returns whether the text is a valid base key: 1 to `RequestLimits.urlBytesMax` bytes without
    /// control characters.
    public static func isText(_ text: String) -> Bool {
        !text.isEmpty && text.utf8.count <= RequestLimits.urlBytesMax
            && text.utf8.allSatisfy { $0 >= 0x20 && $0 != 0x7F }
    }
}

extension ImageError {
    /// The error for an SDWebImage option that this version doesn't support.
    public static func notSupported(_ option: String) -> ImageError {
        ImageError(.notSupported, "\(option) is not supported by this version") {
            $0.option = option
        }
    }
}

/// The replacement of the URL in cache keys (SEMANTICS §4.2).
public enum BaseKey: Hashable, Sendable {
    /// A configured filter, by name, applied to the URL.
    case filter(String)
    /// A literal text of up to `RequestLimits.urlBytesMax` bytes without control characters. The
    /// identity is still part of the key.
    case text(String)

    /// Compares bytes, as caches do, because Swift compares strings by canonical equivalence.
    public static func == (one: BaseKey, other: BaseKey) -> Bool {
        switch (one, other) {
        case (.filter(let one), .filter(let other)), (.text(let one), .text(let other)):
            one.utf8.elementsEqual(other.utf8)
        case (.filter, .text), (.text, .filter): false
        }
    }
}

/// The bytes stored in the caches instead of those delivered (SEMANTICS §5.8).
public enum Serializer: Hashable, Sendable {
    /// The delivered bytes.
    case asIs
    /// The image in another format; a `nil` quality is `OutputOptions.defaultQuality`.
    case transcode(ImageFormat, quality: Int?)
    /// A configured serializer, by name.
    case named(String)

    /// Parses `as-is`, `transcode:FORMAT`, `transcode:FORMAT:QUALITY` with a quality from 0 to 100,
    /// or a name; returns `nil` for an invalid transcode.
    public init?(_ text: String) {
        let parts = text.split(separator: ":", omittingEmptySubsequences: false)
        guard parts[0] == "transcode" else {
            self = text == "as-is" ? .asIs : .named(text)
            return
        }
        guard (2...3).contains(parts.count), let format = ImageFormat(name: String(parts[1])) else {
            return nil
        }
        let digits = parts.count == 3 ? parts[2] : "0"
        guard (1...3).contains(digits.utf8.count),
            digits.utf8.allSatisfy(\.isDigit), let quality = Int(digits),
            quality <= 100
        else { return nil }
        self = .transcode(format, quality: parts.count == 3 ? quality : nil)
    }

    /// The encoding; `nil` if the bytes are stored unchanged.
    public var output: OutputOptions? {
        guard case .transcode(let format, let quality) = self else { return nil }
        return OutputOptions(format: format, quality: quality)
    }
}

/// SDWebImage's encoder options (`imageEncodeOptions`). They apply only if an image is encoded, and
/// only to what the request's output leaves unset (SEMANTICS §11.23).
public struct EncodeOptions: Hashable, Sendable {
    /// The quality of lossy formats, 0 to 100, corresponding to SDWebImage's 0 to 1; `nil` if
    /// unset.
    public var quality: Int?
    /// The color behind transparent pixels in a format without alpha; its own alpha is ignored.
    public var background: Color?
    /// The maximum size of the result; larger images are scaled down with their aspect ratio
    /// preserved, smaller ones are not enlarged.
    public var maxPixelSize: PixelSize?
    /// The maximum size of the result in bytes, 1 to `OutputOptions.maxBytesRange.upperBound`, like
    /// the output's `maxBytes`.
    public var maxBytes: Int?
    /// Whether a thumbnail is embedded in the EXIF of a JPEG, like the output's `embedsThumbnail`.
    public var embedsThumbnail = false

    /// Creates empty options.
    public init() {}

    /// Throws the first error found.
    func check() throws(ImageError) {
        if let quality, !Self.qualities.contains(quality) {
            throw Self.invalid("the quality must be a number from 0 to 100")
        }
        if let maxBytes, !OutputOptions.maxBytesRange.contains(maxBytes) {
            throw Self.invalid(
                "the byte limit must be 1 to \(OutputOptions.maxBytesRange.upperBound)"
            )
        }
        try maxPixelSize?.checkAsBox(of: ContextKey.imageEncodeOptions.rawValue)
    }

    static let qualities = 0...100

    private static func invalid(_ sentence: String) -> ImageError {
        let option = ContextKey.imageEncodeOptions.rawValue
        return ImageError(.invalidRequest, "\(option): \(sentence)") { $0.option = option }
    }
}

extension ImageRequest {
    /// Converts the encoder options into output options and a last step, then clears them. `own`
    /// takes precedence: the output requested explicitly, or a rule. Source bytes and properties,
    /// which are not encoded, are unaffected.
    package mutating func applyEncodeOptions(besides own: OutputOptions) {
        guard let options = context.encodeOptions else { return }
        context.encodeOptions = nil
        guard !infoOnly, !isPlain else { return }
        if own.quality == nil, let quality = options.quality { output.quality = quality }
        if own[.background] == nil, let background = options.background, has(.background) {
            output.background = background
        }
        if own[.maxBytes] == nil, let maxBytes = options.maxBytes, has(.maxBytes) {
            output.maxBytes = maxBytes
        }
        if options.embedsThumbnail, has(.embedThumbnail) { output.embedsThumbnail = true }
        if let box = options.maxPixelSize { steps.append(.resize(box, .fit)) }
    }

    /// Returns whether the requested format has the setting; without one its encoder decides.
    private func has(_ setting: OutputSetting) -> Bool {
        output.format.map(setting.row.formats.contains) ?? true
    }
}

/// How an image with damaged or incomplete pixels is handled (SEMANTICS §11.38).
public enum DamagedImages: Int, Hashable, Sendable, CaseIterable {
    /// The load fails with `badImageData`.
    case refuse = 0
    /// The pixels that could be decoded are shown, and the reply indicates the damage.
    case show = 1

    /// The name in options, files and URLs.
    public var name: String { self == .refuse ? "refuse" : "show" }

    /// Returns `nil` for any other word.
    public init?(name: String) {
        guard let choice = Self.allCases.first(where: { $0.name == name }) else { return nil }
        self = choice
    }
}
