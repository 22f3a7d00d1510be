/// SDWebImage's context options by name: what a request may set besides its option bits.
/// PROTOCOL §8.5 lists how each is supported.
public enum ContextKey: String, Hashable, Sendable, CaseIterable {
    /// The slot of the load.
    case setImageOperationKey = "set-image-operation-key"
    /// The profile of the configuration.
    case customManager = "custom-manager"
    /// The queue for callbacks in a Swift client; never on the wire.
    case callbackQueue = "callback-queue"
    /// The named cache of the result.
    case imageCache = "image-cache"
    /// The loader.
    case imageLoader = "image-loader"
    /// The decoder.
    case imageCoder = "image-coder"
    /// The steps, or `none` to disable those of the configuration.
    case imageTransformer = "image-transformer"
    /// Whether to decode pixels eagerly.
    case imageForceDecodePolicy = "image-force-decode-policy"
    /// Decoder options.
    case imageDecodeOptions = "image-decode-options"
    /// Points per pixel, returned in the reply.
    case imageScaleFactor = "image-scale-factor"
    /// Whether a thumbnail keeps its aspect ratio.
    case imagePreserveAspectRatio = "image-preserve-aspect-ratio"
    /// The box of a thumbnail.
    case imageThumbnailPixelSize = "image-thumbnail-pixel-size"
    /// The type of the source.
    case imageTypeIdentifierHint = "image-type-identifier-hint"
    /// The maximum size of the bitmap in bytes.
    case imageScaleDownLimitBytes = "image-scale-down-limit-bytes"
    /// High dynamic range.
    case imageDecodeToHDR = "image-decode-to-hdr"
    /// Encoder options.
    case imageEncodeOptions = "image-encode-options"
    /// Tiers queried for the result.
    case queryCacheType = "query-cache-type"
    /// Tiers that store the result.
    case storeCacheType = "store-cache-type"
    /// Tiers queried for the original.
    case originalQueryCacheType = "original-query-cache-type"
    /// Tiers that store the original.
    case originalStoreCacheType = "original-store-cache-type"
    /// The named cache of the original.
    case originalImageCache = "original-image-cache"
    /// Whether an animation yields all its frames or a still image.
    case animatedImageClass = "animated-image-class"
    /// A modifier of the request to the origin.
    case downloadRequestModifier = "download-request-modifier"
    /// A modifier of the origin's response.
    case downloadResponseModifier = "download-response-modifier"
    /// A decryptor of the body.
    case downloadDecryptor = "download-decryptor"
    /// A named cache key filter.
    case cacheKeyFilter = "cache-key-filter"
    /// A serializer of the bytes to store.
    case cacheSerializer = "cache-serializer"

    /// Options that this version rejects with `notSupported`.
    public static let notSupported: Set<ContextKey> = [
        .downloadRequestModifier, .downloadResponseModifier, .downloadDecryptor,
    ]

    /// Options that are accepted with any value and have no effect: pixels are decoded only on
    /// demand, and the type is detected from the first bytes of a file.
    public static let withoutEffect: Set<ContextKey> = [
        .imageForceDecodePolicy, .imageTypeIdentifierHint,
    ]
}

/// An SDWebImage context option with a value in text form, from `get --context` or the rules of a
/// configuration.
public struct ContextSetting: Hashable, Sendable {
    /// The option.
    public let key: ContextKey
    /// The value.
    public let text: String

    /// Throws if the value is invalid. Options that this version doesn't support are accepted here,
    /// so that admission can reject them by name.
    public init(_ key: ContextKey, _ text: String) throws(ContextSettingError) {
        self.key = key
        self.text = text
        guard text.utf8.count <= RequestLimits.otherOptionBytesMax else {
            throw ContextSettingError(
                "exceeds \(RequestLimits.otherOptionBytesMax) bytes")
        }
        var request = ImageRequest(url: "")
        try apply(to: &request)
    }

    /// Applies several settings: decoder options before the individual options that they overlap
    /// with, and a box before settings that depend on it.
    public static func apply(_ settings: [ContextSetting], to request: inout ImageRequest) {
        for turn in Turn.allCases {
            for setting in settings where setting.turn == turn {
                // Errors were reported when the setting was created.
                try? setting.apply(to: &request)
            }
        }
    }

    private enum Turn: CaseIterable { case first, second, last }

    private var turn: Turn {
        switch key {
        case .imageDecodeOptions: .first
        case .imagePreserveAspectRatio: .last
        default: .second
        }
    }

    private func apply(to request: inout ImageRequest) throws(ContextSettingError) {
        switch key {
        case .queryCacheType: request.queryCacheTypes = try tiers()
        case .storeCacheType: request.storeCacheTypes = try tiers()
        case .originalQueryCacheType: request.originalQueryCacheTypes = try tiers()
        case .originalStoreCacheType: request.originalStoreCacheTypes = try tiers()
        case .imageThumbnailPixelSize: request.thumbnail = try box().map { Thumbnail(box: $0) }
        case .imagePreserveAspectRatio:
            request.thumbnail?.preservesAspectRatio = try YesOrNo.isYes(text)
        case .imageDecodeOptions:
            Self.apply(try DecodeOptionList.settings(text), to: &request)
            if YesOrNo.isFirstFrameOnly(text) { request.options.insert(.decodeFirstFrameOnly) }
        case .imageEncodeOptions:
            request.context.encodeOptions = try EncodeOptionList.options(text)
            if YesOrNo.isFirstFrameOnly(text) { request.options.insert(.decodeFirstFrameOnly) }
        case .animatedImageClass: try apply(animatedClass: text, to: &request.options)
        case .setImageOperationKey:
            throw ContextSettingError("applies to views; a single load has no slot")
        case .callbackQueue: throw ContextSettingError("is supported by the Swift client only")
        default: try apply(to: &request.context)
        }
    }

    /// A still image is of its class whatever its source is, so the source need not be animated.
    private func apply(
        animatedClass word: String, to options: inout RequestOptions
    ) throws(ContextSettingError) {
        switch word {
        case "animated": options.insert(.transformAnimatedImage)
        case "still":
            options.insert(.decodeFirstFrameOnly)
            options.remove(.matchAnimatedImageClass)
        default: throw ContextSettingError("must be animated or still, not '\(word)'")
        }
    }

    private func apply(to context: inout RequestContext) throws(ContextSettingError) {
        switch key {
        case .customManager: context.profile = try name()
        case .imageCache: context.cache = try name()
        case .originalImageCache: context.originalCache = try name()
        case .imageLoader: context.loader = try name()
        case .imageCoder: context.coder = try name()
        case .imageTransformer:
            let none = try name() == "none"
            context.withoutTransformer = none
            context.preset = none ? nil : text
        case .imageScaleFactor:
            guard let factor = PlainNumber.decimal(text), factor >= 1 else {
                throw ContextSettingError("must be a number of at least 1, such as 2")
            }
            context.scaleFactor = factor
        case .imageScaleDownLimitBytes:
            guard let limit = PlainNumber.integer(text[...]),
                ScaleDownStep.traits.range.contains(limit)
            else {
                throw ContextSettingError(
                    "must be a number of bytes from 1 to \(RequestLimits.scaleDownBytesMax), "
                        + "such as 4000000")
            }
            context.scaleDownLimit = limit
        case .imageDecodeToHDR: context.decodesToHDR = try YesOrNo.isYes(text)
        case .cacheKeyFilter: context.key = try baseKey()
        case .cacheSerializer:
            guard let serializer = Serializer(try name()) else {
                throw ContextSettingError("must be as-is, transcode:FORMAT[:QUALITY], or a name")
            }
            context.serializer = serializer
        default: context.others[key.rawValue] = text
        }
    }

    /// Marks a text that is the key itself rather than the name of a filter.
    private static let textMark = "text:"

    private func baseKey() throws(ContextSettingError) -> BaseKey {
        guard text.hasPrefix(Self.textMark) else { return .filter(try name()) }
        let key = String(text.dropFirst(Self.textMark.count))
        guard BaseKey.isText(key) else {
            throw ContextSettingError("text: must be followed by a key without control characters")
        }
        return .text(key)
    }

    private func name() throws(ContextSettingError) -> String {
        guard RequestContext.isName(text) else {
            throw ContextSettingError("must be a name of \(RequestContext.nameRule)")
        }
        return text
    }

    private func tiers() throws(ContextSettingError) -> CacheTypes {
        guard let tiers = CacheTypes(name: text) else {
            throw ContextSettingError("'\(text)' is not one of none, disk, memory, all")
        }
        return tiers
    }

    /// `0x0` means no box, like SDWebImage's zero size.
    private func box() throws(ContextSettingError) -> PixelSize? {
        if text == "0x0" { return nil }
        guard let box = PixelSize(text) else {
            throw ContextSettingError("'\(text)' is not WIDTHxHEIGHT in pixels, such as 512x418")
        }
        return box
    }
}

/// An invalid value of a context option.
public struct ContextSettingError: Error, Hashable, Sendable {
    /// A sentence fragment that follows the name of the option.
    public let reason: String

    /// Creates an error from a sentence fragment.
    public init(_ reason: String) { self.reason = reason }
}

/// Passes on each `NAME=VALUE` of a list separated by commas, in order; throws for an unknown name.
private func forEachAssignment<Word: RawRepresentable<String> & CaseIterable>(
    _ text: String, to words: Word.Type,
    _ take: (Word, String) throws(ContextSettingError) -> Void
) throws(ContextSettingError) {
    for part in text.split(separator: ",", omittingEmptySubsequences: false) {
        let halves = part.split(separator: "=", maxSplits: 1).map(String.init)
        guard halves.count == 2, let word = Word(rawValue: halves[0]) else {
            throw ContextSettingError(
                "'\(part)' is not one of "
                    + Word.allCases.map { "\($0.rawValue)=VALUE" }.joined(separator: ", "))
        }
        try take(word, halves[1])
    }
}

/// SDWebImage's decoder options in one text, `NAME=VALUE` separated by commas. Each is equivalent
/// to a context option, which takes precedence if both are given.
enum DecodeOptionList {
    /// Returns the equivalent settings; throws for an unknown name or an invalid value.
    static func settings(_ text: String) throws(ContextSettingError) -> [ContextSetting] {
        var settings: [ContextSetting] = []
        try forEachAssignment(text, to: Word.self) { word, value throws(ContextSettingError) in
            guard let key = word.key else { return }
            do throws(ContextSettingError) {
                settings.append(try ContextSetting(key, value))
            } catch {
                throw ContextSettingError("\(word.rawValue) \(error.reason)")
            }
        }
        return settings
    }

    private enum Word: String, CaseIterable {
        case firstFrameOnly = "first-frame-only"
        case scaleFactor = "scale-factor"
        case preserveAspectRatio = "preserve-aspect-ratio"
        case thumbnailPixelSize = "thumbnail-pixel-size"
        case fileExtensionHint = "file-extension-hint"
        case typeIdentifierHint = "type-identifier-hint"
        case useLazyDecoding = "use-lazy-decoding"
        case scaleDownLimitBytes = "scale-down-limit-bytes"
        case decodeToHDR = "decode-to-hdr"

        /// `nil` if there is no equivalent context option: the first frame is an option bit, the
        /// format is detected from the first bytes, and pixels are decoded on demand.
        var key: ContextKey? {
            switch self {
            case .firstFrameOnly, .fileExtensionHint, .typeIdentifierHint, .useLazyDecoding: nil
            case .scaleFactor: .imageScaleFactor
            case .preserveAspectRatio: .imagePreserveAspectRatio
            case .thumbnailPixelSize: .imageThumbnailPixelSize
            case .scaleDownLimitBytes: .imageScaleDownLimitBytes
            case .decodeToHDR: .imageDecodeToHDR
            }
        }
    }
}

/// SDWebImage's encoder options in one text, `NAME=VALUE` separated by commas.
enum EncodeOptionList {
    /// Returns the options; throws for an unknown name or an invalid value.
    static func options(_ text: String) throws(ContextSettingError) -> EncodeOptions {
        var options = EncodeOptions()
        try forEachAssignment(text, to: Word.self) { word, value throws(ContextSettingError) in
            guard try word.isTaken(value, by: &options) else {
                throw ContextSettingError("\(word.rawValue) must be \(word.expected)")
            }
        }
        return options
    }

    private enum Word: String, CaseIterable {
        case compressionQuality = "compression-quality"
        case backgroundColor = "background-color"
        case maxPixelSize = "max-pixel-size"
        case maxFileSize = "max-file-size"
        case embedThumbnail = "embed-thumbnail"
        case firstFrameOnly = "first-frame-only"

        /// Returns false for a text of the wrong type.
        func isTaken(
            _ text: String, by options: inout EncodeOptions
        ) throws(ContextSettingError) -> Bool {
            switch self {
            case .compressionQuality:
                guard let quality = PlainNumber.decimal(text), (0...1).contains(quality) else {
                    return false
                }
                options.quality = Int((quality * 100).rounded())
            case .backgroundColor:
                guard let color = Color(text), color.alpha == UInt8.max else { return false }
                options.background = color
            case .maxPixelSize:
                if text == "0x0" {
                    options.maxPixelSize = nil
                } else {
                    guard let box = PixelSize(text) else { return false }
                    options.maxPixelSize = box
                }
            case .maxFileSize:
                guard let bytes = PlainNumber.scaled(text, by: 1_024),
                    bytes == 0 || OutputOptions.maxBytesRange.contains(bytes)
                else { return false }
                options.maxBytes = bytes == 0 ? nil : bytes
            case .embedThumbnail: options.embedsThumbnail = try YesOrNo.isYes(text)
            // Implemented by the decoder, which then decodes no other frame.
            case .firstFrameOnly: _ = try YesOrNo.isYes(text)
            }
            return true
        }

        var expected: String {
            switch self {
            case .compressionQuality: "a number from 0 to 1, such as 0.8"
            case .backgroundColor: "an opaque color, #RRGGBB"
            case .maxPixelSize: "WIDTHxHEIGHT in pixels, such as 512x418, or 0x0 for none"
            case .maxFileSize:
                "a number of bytes from 1 to \(OutputOptions.maxBytesRange.upperBound), or 0 for "
                    + "none"
            case .embedThumbnail, .firstFrameOnly: "yes or no"
            }
        }
    }
}

/// Parses boolean options.
enum YesOrNo {
    static func isYes(_ text: String) throws(ContextSettingError) -> Bool {
        switch text {
        case "yes", "true", "1": return true
        case "no", "false", "0": return false
        default: throw ContextSettingError("'\(text)' is not one of yes, no")
        }
    }

    /// Returns whether a list of decoder or encoder options restricts an animation to its first
    /// frame.
    static func isFirstFrameOnly(_ list: String) -> Bool {
        list.split(separator: ",").contains { part in
            let halves = part.split(separator: "=", maxSplits: 1)
            return halves.count == 2 && halves[0] == "first-frame-only"
                && (try? isYes(String(halves[1]))) == true
        }
    }
}

extension ResizeMode {
    /// All modes by their names on the command line and in configurations, in the order of the
    /// help.
    package static let named: [(name: String, value: ResizeMode)] = [
        ("fit", .fit), ("fill", .fill), ("stretch", .stretch), ("letterbox", .letterbox),
        ("cover", .cover), ("auto", .auto), ("fit-turned", .fitTurned),
        ("cover-turned", .coverTurned), ("reshape", .reshape),
    ]

    /// The name on the command line and in configurations, such as `fit` or `fit-turned`.
    public var name: String { Self.named.first { $0.value == self }?.name ?? "" }

    /// Looks up a mode by name; returns `nil` for other words.
    package init?(name: String) {
        guard let found = Self.named.first(where: { $0.name == name }) else { return nil }
        self = found.value
    }
}

extension CacheTypes {
    /// Parses `none`, `disk`, `memory` or `all`; returns `nil` for other words.
    public init?(name: String) {
        let all: [CacheTypes] = [.none, .disk, .memory, .all]
        guard let found = all.first(where: { $0.name == name }) else { return nil }
        self = found
    }
}

extension Fallback {
    /// Parses `none`, an http or https URL, or a color `#AARRGGBB` or, if opaque, `#RRGGBB`;
    /// returns `nil` for anything else.
    public init?(_ text: String) {
        if text == "none" {
            self = .none
        } else if text.utf8.first == UInt8(ascii: "#") {
            guard let color = Color(text) else { return nil }
            self = .color(color)
        } else {
            guard let url = try? SourceURL(text), ["http", "https"].contains(url.scheme) else {
                return nil
            }
            self = .url(text)
        }
    }
}
