import CMessages
import ImageModel
import Messages

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
        // Which bytes a tag may have is for admission.
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
