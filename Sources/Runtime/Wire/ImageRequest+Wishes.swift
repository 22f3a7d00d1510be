import CMessages
import ImageModel

// Tiers and deadline have defaults that are not 0: absent means the default, so that most requests
// say nothing and other languages need not know them.
extension ImageRequest {
    mutating func readWishes(_ wire: Imagebus__V1__ImageRequest, _ read: FieldReader)
        throws(WireError)
    {
        if wire.maybe_query_cache_types_case.rawValue != 0 {
            queryCacheTypes = try CacheTypes(
                wire.query_cache_types, "ImageRequest.query_cache_types")
        }
        if wire.maybe_store_cache_types_case.rawValue != 0 {
            storeCacheTypes = try CacheTypes(
                wire.store_cache_types, "ImageRequest.store_cache_types")
        }
        if wire.maybe_original_query_cache_types_case.rawValue != 0 {
            originalQueryCacheTypes = try CacheTypes(
                wire.original_query_cache_types, "ImageRequest.original_query_cache_types")
        }
        if wire.maybe_original_store_cache_types_case.rawValue != 0 {
            originalStoreCacheTypes = try CacheTypes(
                wire.original_store_cache_types, "ImageRequest.original_store_cache_types")
        }
        if wire.maybe_timeout_milliseconds_case.rawValue != 0 {
            timeoutMilliseconds = try read.exactly(
                wire.timeout_milliseconds, "ImageRequest.timeout_milliseconds")
        }
    }

    func writeWishes(_ wire: inout Imagebus__V1__ImageRequest) {
        let usual = ImageRequest(url: "")
        if queryCacheTypes != usual.queryCacheTypes {
            wire.maybe_query_cache_types_case = .init(rawValue: 8)
            wire.query_cache_types = UInt32(queryCacheTypes.rawValue)
        }
        if storeCacheTypes != usual.storeCacheTypes {
            wire.maybe_store_cache_types_case = .init(rawValue: 9)
            wire.store_cache_types = UInt32(storeCacheTypes.rawValue)
        }
        if originalQueryCacheTypes != usual.originalQueryCacheTypes {
            wire.maybe_original_query_cache_types_case = .init(rawValue: 10)
            wire.original_query_cache_types = UInt32(originalQueryCacheTypes.rawValue)
        }
        if originalStoreCacheTypes != usual.originalStoreCacheTypes {
            wire.maybe_original_store_cache_types_case = .init(rawValue: 11)
            wire.original_store_cache_types = UInt32(originalStoreCacheTypes.rawValue)
        }
        if timeoutMilliseconds != usual.timeoutMilliseconds {
            wire.maybe_timeout_milliseconds_case = .init(rawValue: 12)
            wire.timeout_milliseconds = Int64(timeoutMilliseconds)
        }
    }
}
