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

extension RequestContext {
    /// Throws the first thing that is wrong with it. Whether a name is known is for the
    /// configuration to say.
    public func check() throws(ImageError) {
        if isEmpty { return }
        for (name, value) in others.sorted(by: { $0.key < $1.key }) { try Self.check(name, value) }
        try Self.check(name: profile, "profile")
        try Self.check(name: cache, "cache")
        try Self.check(name: originalCache, "cache of the original")
        try Self.check(name: loader, "loader")
        try Self.check(name: preset, "preset")
        if let scaleFactor, !(scaleFactor.isFinite && scaleFactor >= 1) {
            throw ImageError(.invalidRequest, "the scale factor is a number from 1 up")
        }
        if let scaleDownLimit, !ScaleDownStep.traits.range.contains(scaleDownLimit) {
            throw ImageError(
                .invalidRequest,
                "the limit of bytes is a number from 1 to \(RequestLimits.scaleDownBytesMax)")
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
                throw ImageError(.invalidRequest, "the quality is a number from 0 to 100")
            }
        }
    }

    /// SDWebImage's other options are known and not there; anything else is a mistake.
    private static func check(_ name: String, _ value: String) throws(ImageError) {
        guard let key = ContextKey(rawValue: name) else {
            throw ImageError(.invalidRequest, "a context option is unknown to this version")
        }
        if ContextKey.withoutEffect.contains(key) { return }
        if key == .imageCoder { return try check(name: value, "coder") }
        guard ContextKey.notSupported.contains(key) else {
            throw ImageError(.invalidRequest, "a context option has a field of its own: \(name)")
        }
        throw ImageError.notSupported(name)
    }

    /// Whether the URL may be loaded is asked when it is needed, as for any other.
    private static func check(fallback text: String) throws(ImageError) {
        do throws(ImageError) {
            let url = try SourceURL(text)
            guard url.userInfo == nil else {
                throw ImageError(.invalidRequest, "it is loaded without credentials")
            }
        } catch {
            throw ImageError(.invalidRequest, "the URL of the fallback: \(error.message)")
        }
    }

    /// Throws where there is a name and nothing may be called so; `what` is for the sentence.
    public static func check(name: String?, _ what: String) throws(ImageError) {
        guard let name else { return }
        guard isName(name) else {
            throw ImageError(
                .invalidRequest,
                "the name of a \(what) has 1 to \(RequestLimits.nameBytesMax) bytes and no spaces")
        }
    }

    /// Whether something may be called so: 1 to `RequestLimits.nameBytesMax` bytes, neither spaces
    /// nor control characters.
    public static func isName(_ text: String) -> Bool {
        !text.isEmpty && text.utf8.count <= RequestLimits.nameBytesMax
            && text.utf8.allSatisfy { $0 > 0x20 && $0 != 0x7F }
    }
}

extension BaseKey {
    fileprivate func check() throws(ImageError) {
        switch self {
        case .filter(let name): try RequestContext.check(name: name, "key filter")
        case .text(let text):
            guard Self.isText(text) else {
                throw ImageError(
                    .invalidRequest,
                    "a cache key has 1 to \(RequestLimits.urlBytesMax) bytes "
                        + "and no control characters")
            }
        }
    }

    /// Whether a key may begin so: 1 to `RequestLimits.urlBytesMax` bytes, no control characters.
    public static func isText(_ text: String) -> Bool {
        !text.isEmpty && text.utf8.count <= RequestLimits.urlBytesMax
            && text.utf8.allSatisfy { $0 >= 0x20 && $0 != 0x7F }
    }
}

extension ImageError {
    /// SDWebImage has this option, this version does not.
    public static func notSupported(_ option: String) -> ImageError {
        ImageError(
            .notSupported, "\(option) is not supported by this version",
            details: ["option": option])
    }
}

/// What takes the place of the URL in cache keys (SEMANTICS §4.2).
public enum BaseKey: Hashable, Sendable {
    /// A filter of the configuration, by name, applied to the URL.
    case filter(String)
    /// This very text, up to `RequestLimits.urlBytesMax` bytes without control characters. Who asks
    /// is in the key all the same.
    case text(String)

    /// By bytes, as caches do: Swift compares texts by meaning.
    public static func == (one: BaseKey, other: BaseKey) -> Bool {
        switch (one, other) {
        case (.filter(let one), .filter(let other)), (.text(let one), .text(let other)):
            one.utf8.elementsEqual(other.utf8)
        case (.filter, .text), (.text, .filter): false
        }
    }
}

/// What is written into the caches instead of the bytes that are delivered (SEMANTICS §5.8).
public enum Serializer: Hashable, Sendable {
    /// The bytes as they are.
    case asIs
    /// The image in another format; `nil` is `OutputOptions.defaultQuality`.
    case transcode(ImageFormat, quality: Int?)
    /// A serializer of the configuration, by name.
    case named(String)

    /// `as-is`, `transcode:FORMAT`, `transcode:FORMAT:QUALITY` with a quality from 0 to 100, or the
    /// name of one; `nil` for what begins like a transcode and is none.
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
            digits.utf8.allSatisfy({ (0x30...0x39).contains($0) }), let quality = Int(digits),
            quality <= 100
        else { return nil }
        self = .transcode(format, quality: parts.count == 3 ? quality : nil)
    }

    /// How the image is encoded; `nil` where its bytes are written as they are.
    public var output: OutputOptions? {
        guard case .transcode(let format, let quality) = self else { return nil }
        return OutputOptions(format: format, quality: quality)
    }
}

/// SDWebImage's words for an encoder (`imageEncodeOptions`). They say something only where an image
/// is encoded, and only what the request's output does not say itself (SEMANTICS §11.23).
public struct EncodeOptions: Hashable, Sendable {
    /// Of lossy formats, 0 to 100: upstream's 0 to 1 in hundredths; `nil` says nothing.
    public var quality: Int?
    /// What is seen behind transparent pixels in a format that has none; its alpha says nothing.
    public var background: Colour?
    /// The result is scaled down until it lies inside, its ratio kept; it is never enlarged.
    public var maxPixelSize: PixelSize?
    /// Bytes of the result at most, 1 to `OutputOptions.maxBytesRange.upperBound`: as the output's
    /// `maxBytes`.
    public var maxBytes: Int?
    /// Whether a small image is in the EXIF of a JPEG: as the output's `embedsThumbnail`.
    public var embedsThumbnail = false

    /// Says nothing.
    public init() {}

    /// Throws the first thing that is wrong with it.
    func check() throws(ImageError) {
        if let quality, !Self.qualities.contains(quality) {
            throw Self.invalid("the quality is a number from 0 to 100")
        }
        if let maxBytes, !OutputOptions.maxBytesRange.contains(maxBytes) {
            throw Self.invalid(
                "the limit of bytes is a number from 1 to \(OutputOptions.maxBytesRange.upperBound)"
            )
        }
        try maxPixelSize?.checkAsBox(of: ContextKey.imageEncodeOptions.rawValue)
    }

    static let qualities = 0...100

    private static func invalid(_ sentence: String) -> ImageError {
        let option = ContextKey.imageEncodeOptions.rawValue
        return ImageError(
            .invalidRequest, "\(option): \(sentence)", details: ["option": option])
    }
}

extension ImageRequest {
    /// Makes output and a last step of the words for an encoder, which then say nothing more. `own`
    /// is what counts before them: the output that the request itself asked for, or a rule. What is
    /// not encoded stays as it is: the source's bytes, and facts.
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

    /// Whether the format that is asked for has the setting; where none is, its encoder sees.
    private func has(_ setting: OutputSetting) -> Bool {
        output.format.map(setting.row.formats.contains) ?? true
    }
}

/// What becomes of an image whose pixels are damaged or incomplete (SEMANTICS §11.38).
public enum DamagedImages: Int, Hashable, Sendable, CaseIterable {
    /// The load fails with `badImageData`.
    case refuse = 0
    /// The pixels that are there are shown, and the reply says so.
    case show = 1

    /// The word for it in options, files and URLs.
    public var name: String {
        switch self {
        case .refuse: "refuse"
        case .show: "show"
        }
    }

    /// `nil` for any other word.
    public init?(name: String) {
        guard let choice = Self.allCases.first(where: { $0.name == name }) else { return nil }
        self = choice
    }
}
