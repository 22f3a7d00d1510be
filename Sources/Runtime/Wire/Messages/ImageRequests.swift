import CMessages
import Model

extension ImageRequest: WireMessage {
    typealias Form = Imagebus__V1__ImageRequest
    static var begin: (CPart<Form>?) -> Void { imagebus__v1__image_request__init }
    static var blank: Self { Self(url: "") }

    /// Only counts and lengths are checked here; admission validates the meaning.
    mutating func fields(_ map: some FieldMap, _ wire: CPart<Form>) throws(WireError) {
        try map.url(of: &self, &wire.pointee.url)
        try map.headers(
            &headers, &wire.pointee.n_headers, &wire.pointee.headers, "ImageRequest.headers")
        try map.maybe(&thumbnail, &wire.pointee.thumbnail, "ImageRequest.thumbnail")
        try map.list(
            &steps, &wire.pointee.n_steps, &wire.pointee.steps, "ImageRequest.steps",
            limit: RequestLimits.stepsMax)
        try map.part(&output, unless: output.isDefault, &wire.pointee.output, "ImageRequest.output")
        map.flag(&infoOnly, &wire.pointee.info_only, "ImageRequest.info_only")
        try map.bits(&options, &wire.pointee.options, "ImageRequest.options")
        try mapInterests(map, wire)
        try map.finite(
            &pixelRatio, unless: 1, &wire.pointee.pixel_ratio,
            if: &wire.pointee.maybe_pixel_ratio_case, 14, "ImageRequest.pixel_ratio")
        try map.part(
            &properties, unless: properties == RequestedProperties(), &wire.pointee.facts,
            "ImageRequest.facts")
        map.flag(
            &wantsExplanation, &wire.pointee.wants_explanation, "ImageRequest.wants_explanation")
        try map.part(
            &assumedLifetime, unless: assumedLifetime == .none, &wire.pointee.assumed_lifetime,
            "ImageRequest.assumed_lifetime")
        try map.number(
            &earlierFailureMilliseconds, within: 0...Int(UInt32.max),
            &wire.pointee.earlier_failure_milliseconds,
            if: &wire.pointee.maybe_earlier_failure_milliseconds_case, 19,
            "ImageRequest.earlier_failure_milliseconds")
        try map.number(
            &frame, within: 0...RequestLimits.framesMax, &wire.pointee.frame,
            if: &wire.pointee.maybe_frame_case, 17, "ImageRequest.frame")
        try map.part(
            &context, unless: context.isEmpty, &wire.pointee.context, "ImageRequest.context")
    }
}

extension FieldMap {
    /// A request normalizes its URLs; this happens once, when they are read.
    fileprivate func url(of value: inout ImageRequest, _ member: inout CText?) throws(WireError) {
        var url = value.url
        try text(&url, &member, "ImageRequest.url", limit: RequestLimits.urlBytesMax)
        if url != value.url { value.url = url }
    }
}

extension Thumbnail: WireMessage {
    typealias Form = Imagebus__V1__Thumbnail
    static var begin: (CPart<Form>?) -> Void { imagebus__v1__thumbnail__init }
    static var blank: Self { Self(box: .blank, preservesAspectRatio: false) }

    mutating func fields(_ map: some FieldMap, _ wire: CPart<Form>) throws(WireError) {
        try map.part(&box, &wire.pointee.box, "Thumbnail.box")
        map.flag(
            &preservesAspectRatio, &wire.pointee.preserves_aspect_ratio,
            "Thumbnail.preserves_aspect_ratio")
    }
}

extension AssumedLifetime: WireMessage {
    typealias Form = Imagebus__V1__AssumedLifetime
    static var begin: (CPart<Form>?) -> Void { imagebus__v1__assumed_lifetime__init }
    static var blank: Self { .none }

    /// Admission validates the contents of a request.
    mutating func fields(_ map: some FieldMap, _ wire: CPart<Form>) throws(WireError) {
        try map.number(&fresh, &wire.pointee.fresh, "AssumedLifetime.fresh")
        try map.number(
            &whileRevalidate, &wire.pointee.while_revalidate, "AssumedLifetime.while_revalidate")
        try map.number(&ifError, &wire.pointee.if_error, "AssumedLifetime.if_error")
    }
}

// Tiers and deadline have nonzero defaults: an absent field means the default, so that most
// requests omit them and other languages need not know them.
extension ImageRequest {
    private static let defaults = ImageRequest(url: "")

    mutating func mapInterests(_ map: some FieldMap, _ wire: CPart<Form>) throws(WireError) {
        try map.tiers(
            &queryCacheTypes, unless: Self.defaults.queryCacheTypes,
            &wire.pointee.query_cache_types,
            if: &wire.pointee.maybe_query_cache_types_case, 8, "ImageRequest.query_cache_types")
        try map.tiers(
            &storeCacheTypes, unless: Self.defaults.storeCacheTypes,
            &wire.pointee.store_cache_types,
            if: &wire.pointee.maybe_store_cache_types_case, 9, "ImageRequest.store_cache_types")
        try map.tiers(
            &originalQueryCacheTypes, unless: Self.defaults.originalQueryCacheTypes,
            &wire.pointee.original_query_cache_types,
            if: &wire.pointee.maybe_original_query_cache_types_case, 10,
            "ImageRequest.original_query_cache_types")
        try map.tiers(
            &originalStoreCacheTypes, unless: Self.defaults.originalStoreCacheTypes,
            &wire.pointee.original_store_cache_types,
            if: &wire.pointee.maybe_original_store_cache_types_case, 11,
            "ImageRequest.original_store_cache_types")
        try map.number(
            &timeoutMilliseconds, unless: Self.defaults.timeoutMilliseconds,
            &wire.pointee.timeout_milliseconds, if: &wire.pointee.maybe_timeout_milliseconds_case,
            12, "ImageRequest.timeout_milliseconds")
    }
}

private enum OptionLimits: DetailLimits {
    static var nameMax: Int { RequestLimits.nameBytesMax }
    static func valueMax(beside name: String) -> Int { RequestLimits.otherOptionBytesMax }
}

extension RequestContext: WireMessage {
    typealias Form = Imagebus__V1__Context
    static var begin: (CPart<Form>?) -> Void { imagebus__v1__context__init }
    static var blank: Self { Self() }

    mutating func fields(_ map: some FieldMap, _ wire: CPart<Form>) throws(WireError) {
        try map.name(&profile, &wire.pointee.profile, "Context.profile")
        try map.name(&cache, &wire.pointee.cache, "Context.cache")
        try map.name(&originalCache, &wire.pointee.original_cache, "Context.original_cache")
        try map.name(&loader, &wire.pointee.loader, "Context.loader")
        try mapKey(map, wire)
        try map.maybe(&serializer, &wire.pointee.serializer, "Context.serializer")
        try map.finite(
            &scaleFactor, &wire.pointee.scale_factor, if: &wire.pointee.maybe_scale_factor_case, 8,
            "Context.scale_factor")
        try map.number(
            &scaleDownLimit, &wire.pointee.scale_down_limit,
            if: &wire.pointee.maybe_scale_down_limit_case, 13, "Context.scale_down_limit")
        try map.maybe(&encodeOptions, &wire.pointee.encode_options, "Context.encode_options")
        try map.name(&preset, &wire.pointee.preset, "Context.preset")
        map.flag(
            &withoutTransformer, &wire.pointee.without_transformer, "Context.without_transformer")
        map.flag(&decodesToHDR, &wire.pointee.decode_to_hdr, "Context.decode_to_hdr")
        // Admission checks the characters of a tag.
        try map.texts(
            &tags, &wire.pointee.n_tags, &wire.pointee.tags, "Context.tags",
            countMax: CacheTag.countMax, limit: CacheTag.bytesMax)
        try map.maybe(&extendedData, &wire.pointee.extended_data, "Context.extended_data")
        map.flag(
            &wantsExtendedData, &wire.pointee.wants_extended_data, "Context.wants_extended_data")
        try map.maybe(&fallback, &wire.pointee.fallback, "Context.fallback")
        try map.word(
            &damaged, &wire.pointee.damaged, if: &wire.pointee.maybe_damaged_case, 19,
            "Context.damaged")
        try map.details(
            &others, OptionLimits.self, &wire.pointee.n_others, &wire.pointee.others,
            "Context.others", limit: RequestLimits.otherOptionsMax)
    }

    private mutating func mapKey(_ map: some FieldMap, _ wire: CPart<Form>) throws(WireError) {
        if try map.text(
            { if case .filter(let name) = key { name } else { nil } }, { key = .filter($0) },
            &wire.pointee.key_filter,
            if: &wire.pointee.maybe_key_case, 5, "Context.key_filter",
            limit: RequestLimits.nameBytesMax)
        {
            return
        }
        if try map.text(
            { if case .text(let text) = key { text } else { nil } }, { key = .text($0) },
            &wire.pointee.base_key,
            if: &wire.pointee.maybe_key_case, 6, "Context.base_key",
            limit: RequestLimits.urlBytesMax)
        {
            return
        }
    }
}

extension OutputOptions: WireMessage {
    typealias Form = Imagebus__V1__Output
    static var begin: (CPart<Form>?) -> Void { imagebus__v1__output__init }
    static var blank: Self { Self() }

    mutating func fields(_ map: some FieldMap, _ wire: CPart<Form>) throws(WireError) {
        try map.word(
            &format, &wire.pointee.format, if: &wire.pointee.maybe_format_case, 1, "Output.format")
        try map.number(
            &quality, &wire.pointee.quality, if: &wire.pointee.maybe_quality_case, 2,
            "Output.quality")
        map.flag(&lossless, &wire.pointee.lossless, "Output.lossless")
        try map.number(
            &compression, &wire.pointee.compression, if: &wire.pointee.maybe_compression_case, 4,
            "Output.compression")
        var settings = settingTexts
        try map.details(
            &settings, ParameterLimits.self, &wire.pointee.n_settings, &wire.pointee.settings,
            "Output.settings", limit: RequestLimits.parametersMax)
        guard apply(settings: settings) else { throw .field("Output.settings", .unknownValue) }
    }
}

extension EncodeOptions: WireMessage {
    typealias Form = Imagebus__V1__EncodeOptions
    static var begin: (CPart<Form>?) -> Void { imagebus__v1__encode_options__init }
    static var blank: Self { Self() }

    /// Admission validates the values.
    mutating func fields(_ map: some FieldMap, _ wire: CPart<Form>) throws(WireError) {
        try map.number(
            &quality, &wire.pointee.quality, if: &wire.pointee.maybe_quality_case, 1,
            "EncodeOptions.quality")
        var argb = background?.argb
        try map.number(
            &argb, &wire.pointee.background, if: &wire.pointee.maybe_background_case, 2,
            "EncodeOptions.background")
        background = argb.map { Color(argb: $0) }
        try map.maybe(&maxPixelSize, &wire.pointee.max_pixel_size, "EncodeOptions.max_pixel_size")
        try map.number(
            &maxBytes, &wire.pointee.max_bytes, if: &wire.pointee.maybe_max_bytes_case, 4,
            "EncodeOptions.max_bytes")
        map.flag(
            &embedsThumbnail, &wire.pointee.embed_thumbnail, "EncodeOptions.embed_thumbnail")
    }
}

extension Serializer: WireMessage {
    typealias Form = Imagebus__V1__Serializer
    static var begin: (CPart<Form>?) -> Void { imagebus__v1__serializer__init }
    static var blank: Self { .asIs }

    mutating func fields(_ map: some FieldMap, _ wire: CPart<Form>) throws(WireError) {
        if try map.unit(
            self == .asIs, { self = .asIs }, &wire.pointee.as_is, if: &wire.pointee.serializer_case,
            1, "Serializer.as_is")
        {
            return
        }
        if try map.part(
            { Transcoding(self) }, { self = .transcode($0.format, quality: $0.quality) },
            &wire.pointee.transcode,
            if: &wire.pointee.serializer_case, 2, "Serializer.transcode")
        {
            return
        }
        if try map.text(
            { if case .named(let name) = self { name } else { nil } }, { self = .named($0) },
            &wire.pointee.named,
            if: &wire.pointee.serializer_case, 3, "Serializer.named",
            limit: RequestLimits.nameBytesMax)
        {
            return
        }
        throw .field("Serializer.serializer", .missing)
    }
}

/// The serializer case that re-encodes an image.
struct Transcoding: WireMessage {
    var format: ImageFormat
    var quality: Int?

    typealias Form = Imagebus__V1__Transcode
    static var begin: (CPart<Form>?) -> Void { imagebus__v1__transcode__init }
    static var blank: Self { Self(format: .undefined, quality: nil) }

    mutating func fields(_ map: some FieldMap, _ wire: CPart<Form>) throws(WireError) {
        try map.word(&format, &wire.pointee.format, "Transcode.format")
        try map.number(
            &quality, &wire.pointee.quality, if: &wire.pointee.maybe_quality_case, 2,
            "Transcode.quality")
    }

    private init(format: ImageFormat, quality: Int?) {
        (self.format, self.quality) = (format, quality)
    }

    /// Returns `nil` for another case.
    init?(_ serializer: Serializer) {
        guard case .transcode(let format, let quality) = serializer else { return nil }
        self.init(format: format, quality: quality)
    }
}

extension Fallback: WireMessage {
    typealias Form = Imagebus__V1__Fallback
    static var begin: (CPart<Form>?) -> Void { imagebus__v1__fallback__init }
    static var blank: Self { .none }

    mutating func fields(_ map: some FieldMap, _ wire: CPart<Form>) throws(WireError) {
        if try map.unit(
            self == .none, { self = .none }, &wire.pointee.none, if: &wire.pointee.fallback_case, 1,
            "Fallback.none")
        {
            return
        }
        if try map.text(
            { if case .url(let url) = self { url } else { nil } }, { self = .url($0) },
            &wire.pointee.url,
            if: &wire.pointee.fallback_case, 2, "Fallback.url", limit: RequestLimits.urlBytesMax)
        {
            return
        }
        if try map.number(
            { if case .color(let color) = self { color.argb } else { nil } },
            { self = .color(Color(argb: $0)) }, &wire.pointee.colour,
            if: &wire.pointee.fallback_case, 3, "Fallback.colour")
        {
            return
        }
        throw .field("Fallback.fallback", .missing)
    }
}

extension TraceContext: FormedText {
    static var bytesMax: Int { textBytes }
    static var readBytesMax: Int { MessageLimits.textBytesMax }

    /// An invalid value is ignored and starts no trace (W3C Trace Context §3.2.2.4).
    init?(reading text: String, _ field: String) { self.init(text: text) }
}

extension RequestID: FormedText {
    static var readBytesMax: Int { MessageLimits.textBytesMax }

    /// An invalid value is ignored.
    init?(reading text: String, _ field: String) { self.init(text: text) }
}
