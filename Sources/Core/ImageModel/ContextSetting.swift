/// One of SDWebImage's context options with a value that was written as text: `get --context`, and
/// the rules of a configuration.
public struct ContextSetting: Hashable, Sendable {
    /// Which one.
    public let key: ContextKey
    /// What it says.
    public let text: String

    /// Throws what is wrong with the value. What this version does not support is taken as it is,
    /// so that admission can refuse it by its name.
    public init(_ key: ContextKey, _ text: String) throws(ContextSettingError) {
        self.key = key
        self.text = text
        guard text.utf8.count <= RequestLimits.otherOptionBytesMax else {
            throw ContextSettingError(
                "has more than \(RequestLimits.otherOptionBytesMax) bytes")
        }
        var request = ImageRequest(url: "")
        try apply(to: &request)
    }

    /// Applies several: words for the decoder before the options that say the same, and a box
    /// before what depends on it.
    public static func apply(_ settings: [ContextSetting], to request: inout ImageRequest) {
        for turn in Turn.allCases {
            for setting in settings where setting.turn == turn {
                // Whoever made the setting was told what is wrong with it.
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
            throw ContextSettingError("is of views and pages: one load alone has no slot")
        case .callbackQueue: throw ContextSettingError("is for the Swift client alone")
        default: try apply(to: &request.context)
        }
    }

    /// What is still is of its class whatever its source is, so none has to be an animation.
    private func apply(
        animatedClass word: String, to options: inout RequestOptions
    ) throws(ContextSettingError) {
        switch word {
        case "animated": options.insert(.transformAnimatedImage)
        case "still":
            options.insert(.decodeFirstFrameOnly)
            options.remove(.matchAnimatedImageClass)
        default: throw ContextSettingError("'\(word)' is not one of animated, still")
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
                throw ContextSettingError("is a number from 1 up, such as 2")
            }
            context.scaleFactor = factor
        case .imageScaleDownLimitBytes:
            guard let limit = PlainNumber.integer(text[...]),
                ScaleDownStep.traits.range.contains(limit)
            else {
                throw ContextSettingError(
                    "is a number of bytes from 1 to \(RequestLimits.scaleDownBytesMax), such as "
                        + "4000000")
            }
            context.scaleDownLimit = limit
        case .imageDecodeToHDR: context.decodesToHDR = try YesOrNo.isYes(text)
        case .cacheKeyFilter: context.key = try baseKey()
        case .cacheSerializer:
            guard let serializer = Serializer(try name()) else {
                throw ContextSettingError("is as-is, transcode:FORMAT[:QUALITY], or a name")
            }
            context.serializer = serializer
        default: context.others[key.rawValue] = text
        }
    }

    /// Marks a text that is the key itself, and not the name of a filter.
    private static let textMark = "text:"

    private func baseKey() throws(ContextSettingError) -> BaseKey {
        guard text.hasPrefix(Self.textMark) else { return .filter(try name()) }
        let key = String(text.dropFirst(Self.textMark.count))
        guard BaseKey.isText(key) else {
            throw ContextSettingError("text: is followed by a key without control characters")
        }
        return .text(key)
    }

    private func name() throws(ContextSettingError) -> String {
        guard RequestContext.isName(text) else {
            throw ContextSettingError(
                "is a name of 1 to \(RequestLimits.nameBytesMax) bytes without spaces")
        }
        return text
    }

    private func tiers() throws(ContextSettingError) -> CacheTypes {
        guard let tiers = CacheTypes(name: text) else {
            throw ContextSettingError("'\(text)' is not one of none, disk, memory, all")
        }
        return tiers
    }

    /// `0x0` is no box, as upstream's zero size.
    private func box() throws(ContextSettingError) -> PixelSize? {
        if text == "0x0" { return nil }
        guard let box = PixelSize(text) else {
            throw ContextSettingError("'\(text)' is no WIDTHxHEIGHT in pixels, such as 512x418")
        }
        return box
    }
}

/// What is wrong with the value of a context option.
public struct ContextSettingError: Error, Hashable, Sendable {
    /// Half a sentence, for behind the name of the option.
    public let reason: String

    /// Takes half a sentence.
    public init(_ reason: String) { self.reason = reason }
}
