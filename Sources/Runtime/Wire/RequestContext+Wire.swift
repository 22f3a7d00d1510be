import CMessages
import ImageModel
import Messages

private enum OptionLimits: DetailLimits {
    static var nameMax: Int { RequestLimits.nameBytesMax }
    static func valueMax(beside name: String) -> Int { RequestLimits.otherOptionBytesMax }
}

extension RequestContext: WireMessage {
    static var begin: (CPart<Imagebus__V1__Context>?) -> Void { imagebus__v1__context__init }
    static var blank: Self { Self() }

    static func fields(
        _ map: some FieldMap, _ value: inout Self, _ wire: CPart<Imagebus__V1__Context>
    ) throws(WireError) {
        try map.name(&value.profile, &wire.pointee.profile, "Context.profile")
        try map.name(&value.cache, &wire.pointee.cache, "Context.cache")
        try map.name(&value.originalCache, &wire.pointee.original_cache, "Context.original_cache")
        try map.name(&value.loader, &wire.pointee.loader, "Context.loader")
        try key(map, &value, wire)
        try map.maybe(&value.serializer, &wire.pointee.serializer, "Context.serializer")
        try map.finite(
            &value.scaleFactor, &wire.pointee.scale_factor,
            if: &wire.pointee.maybe_scale_factor_case, 8, "Context.scale_factor")
        try map.name(&value.preset, &wire.pointee.preset, "Context.preset")
        map.flag(
            &value.withoutTransformer, &wire.pointee.without_transformer,
            "Context.without_transformer")
        try map.maybe(&value.fallback, &wire.pointee.fallback, "Context.fallback")
        try map.details(
            &value.others, OptionLimits.self, &wire.pointee.n_others, &wire.pointee.others,
            "Context.others", limit: RequestLimits.otherOptionsMax)
    }

    private static func key(
        _ map: some FieldMap, _ value: inout Self, _ wire: CPart<Imagebus__V1__Context>
    ) throws(WireError) {
        if try map.text(
            { if case .filter(let name) = value.key { name } else { nil } },
            { value.key = .filter($0) }, &wire.pointee.key_filter,
            if: &wire.pointee.maybe_key_case, 5, "Context.key_filter",
            limit: RequestLimits.nameBytesMax)
        {
            return
        }
        if try map.text(
            { if case .text(let text) = value.key { text } else { nil } },
            { value.key = .text($0) }, &wire.pointee.base_key,
            if: &wire.pointee.maybe_key_case, 6, "Context.base_key",
            limit: RequestLimits.urlBytesMax)
        {
            return
        }
    }
}
