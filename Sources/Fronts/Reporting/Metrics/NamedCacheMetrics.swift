import Messages

/// What each named cache keeps, was asked, and may keep, as metrics. Each has the label `cache`;
/// there are at most as many as a status has, and what the default cache has is the rest.
enum NamedCacheMetrics {
    static func families(_ stores: [CacheStatus]) -> [MetricFamily] {
        let caches = byName(stores)
        guard !caches.isEmpty else { return [] }
        return usage(caches) + queries(caches)
    }

    /// One of each name: a set of labels stands for one sample.
    private static func byName(_ stores: [CacheStatus]) -> [NamedCacheStatus] {
        var first: [String: NamedCacheStatus] = [:]
        for cache in stores.flatMap(\.caches) where first[cache.name] == nil {
            first[cache.name] = cache
        }
        return Array(
            first.values.sorted { $0.name < $1.name }.prefix(NamedCacheStatus.countMax))
    }

    private static func usage(_ caches: [NamedCacheStatus]) -> [MetricFamily] {
        [
            byTier("entries", "Entries of a named cache.", caches, \.entries),
            byTier("bytes", "What the entries of a named cache take.", caches, \.bytes),
            byTier(
                "limit_entries", "The cache's own limit of entries; 0 for none.", caches,
                \.entriesMax),
            byTier(
                "limit_bytes", "The cache's own limit of bytes; 0 for none.", caches, \.bytesMax),
        ]
    }

    private static func byTier(
        _ name: String, _ help: String, _ caches: [NamedCacheStatus],
        _ value: KeyPath<NamedCacheStatus.Usage, UInt64>
    ) -> MetricFamily {
        var family = MetricFamily("imagebus_named_cache_\(name)", .gauge, help)
        for cache in caches {
            family.add(cache.memory[keyPath: value], [("cache", cache.name), ("tier", "memory")])
            family.add(cache.disk[keyPath: value], [("cache", cache.name), ("tier", "disk")])
        }
        return family
    }

    private static func queries(_ caches: [NamedCacheStatus]) -> [MetricFamily] {
        var hits = MetricFamily(
            "imagebus_named_cache_hits_total", .counter,
            "Queries that a named cache answered; the coordinator answers most of memory itself.")
        var misses = MetricFamily(
            "imagebus_named_cache_misses_total", .counter,
            "Queries to which a named cache had nothing.")
        var evictions = MetricFamily(
            "imagebus_named_cache_memory_evictions_total", .counter,
            "Blocks of a named cache's memory that lost their keys.")
        for cache in caches {
            hits.add(cache.memoryHits, [("cache", cache.name), ("tier", "memory")])
            hits.add(cache.diskHits, [("cache", cache.name), ("tier", "disk")])
            misses.add(cache.misses, [("cache", cache.name)])
            evictions.add(cache.memoryEvictions, [("cache", cache.name)])
        }
        return [hits, misses, evictions]
    }
}
