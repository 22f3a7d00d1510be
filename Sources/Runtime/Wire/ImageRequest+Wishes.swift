import CMessages
import ImageModel

// Tiers and deadline have defaults that are not 0: absent means the default, so that most requests
// say nothing and other languages need not know them.
extension ImageRequest {
    private static let usual = ImageRequest(url: "")

    static func wishes(
        _ map: some FieldMap, _ value: inout Self, _ wire: CPart<Imagebus__V1__ImageRequest>
    ) throws(WireError) {
        try map.tiers(
            &value.queryCacheTypes, unless: usual.queryCacheTypes, &wire.pointee.query_cache_types,
            if: &wire.pointee.maybe_query_cache_types_case, 8, "ImageRequest.query_cache_types")
        try map.tiers(
            &value.storeCacheTypes, unless: usual.storeCacheTypes, &wire.pointee.store_cache_types,
            if: &wire.pointee.maybe_store_cache_types_case, 9, "ImageRequest.store_cache_types")
        try map.tiers(
            &value.originalQueryCacheTypes, unless: usual.originalQueryCacheTypes,
            &wire.pointee.original_query_cache_types,
            if: &wire.pointee.maybe_original_query_cache_types_case, 10,
            "ImageRequest.original_query_cache_types")
        try map.tiers(
            &value.originalStoreCacheTypes, unless: usual.originalStoreCacheTypes,
            &wire.pointee.original_store_cache_types,
            if: &wire.pointee.maybe_original_store_cache_types_case, 11,
            "ImageRequest.original_store_cache_types")
        try map.number(
            &value.timeoutMilliseconds, unless: usual.timeoutMilliseconds,
            &wire.pointee.timeout_milliseconds, if: &wire.pointee.maybe_timeout_milliseconds_case,
            12, "ImageRequest.timeout_milliseconds")
    }
}
