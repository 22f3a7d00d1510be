import CMessages
import ImageModel

// Tiers and deadline have defaults that are not 0: absent means the default, so that most requests
// say nothing and other languages need not know them.
extension ImageRequest {
    private static let usual = ImageRequest(url: "")

    mutating func mapWishes(_ map: some FieldMap, _ wire: CPart<Form>) throws(WireError) {
        try map.tiers(
            &queryCacheTypes, unless: Self.usual.queryCacheTypes, &wire.pointee.query_cache_types,
            if: &wire.pointee.maybe_query_cache_types_case, 8, "ImageRequest.query_cache_types")
        try map.tiers(
            &storeCacheTypes, unless: Self.usual.storeCacheTypes, &wire.pointee.store_cache_types,
            if: &wire.pointee.maybe_store_cache_types_case, 9, "ImageRequest.store_cache_types")
        try map.tiers(
            &originalQueryCacheTypes, unless: Self.usual.originalQueryCacheTypes,
            &wire.pointee.original_query_cache_types,
            if: &wire.pointee.maybe_original_query_cache_types_case, 10,
            "ImageRequest.original_query_cache_types")
        try map.tiers(
            &originalStoreCacheTypes, unless: Self.usual.originalStoreCacheTypes,
            &wire.pointee.original_store_cache_types,
            if: &wire.pointee.maybe_original_store_cache_types_case, 11,
            "ImageRequest.original_store_cache_types")
        try map.number(
            &timeoutMilliseconds, unless: Self.usual.timeoutMilliseconds,
            &wire.pointee.timeout_milliseconds, if: &wire.pointee.maybe_timeout_milliseconds_case,
            12, "ImageRequest.timeout_milliseconds")
    }
}
