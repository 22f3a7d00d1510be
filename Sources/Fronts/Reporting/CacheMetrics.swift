import Messages

/// Metrics of the contents and disks of the cache processes.
enum StoreMetrics {
    static func families(_ caches: [CacheStatus]) -> [MetricFamily] {
        guard !caches.isEmpty else { return [] }
        let disks = caches.filter { $0.disk != .none }
        return [entries(caches, disks), bytes(caches, disks)] + memory(caches)
            + (disks.isEmpty ? [] : disk(disks))
    }

    private static func entries(_ caches: [CacheStatus], _ disks: [CacheStatus]) -> MetricFamily {
        var family = MetricFamily("imagebus_cache_entries", .gauge, "Entries of a cache tier.")
        family.add(sum(caches, \.memoryEntries), [("tier", "memory")])
        if !disks.isEmpty { family.add(sum(disks, \.diskEntries), [("tier", "disk")]) }
        return family
    }

    private static func bytes(_ caches: [CacheStatus], _ disks: [CacheStatus]) -> MetricFamily {
        var family = MetricFamily("imagebus_cache_bytes", .gauge, "What the entries take.")
        family.add(sum(caches, \.memoryBytes), [("tier", "memory")])
        if !disks.isEmpty { family.add(sum(disks, \.diskBytes), [("tier", "disk")]) }
        return family
    }

    private static func memory(_ caches: [CacheStatus]) -> [MetricFamily] {
        var limit = MetricFamily(
            "imagebus_cache_memory_limit_bytes", .gauge, "The limit of the memory tier.")
        limit.add(sum(caches, \.memoryBytesMax))
        var evictions = MetricFamily(
            "imagebus_cache_memory_evictions_total", .counter,
            "Blocks of the memory tier that lost their keys.")
        evictions.add(sum(caches, \.memoryEvictions))
        var shrinks = MetricFamily(
            "imagebus_cache_memory_shrinks_total", .counter,
            "How often the memory tier shrank since memory was short.")
        shrinks.add(sum(caches, \.memoryShrinks))
        return [limit, evictions, shrinks]
    }

    private static func disk(_ disks: [CacheStatus]) -> [MetricFamily] {
        func family(
            _ name: String, _ kind: MetricFamily.Kind, _ value: UInt64, _ help: String
        ) -> MetricFamily {
            var family = MetricFamily("imagebus_cache_\(name)", kind, help)
            family.add(value)
            return family
        }
        return [
            family(
                "disk_up", .gauge, disks.allSatisfy { $0.disk == .healthy } ? 1 : 0,
                "1 where the disk tier works, 0 while it fails, such as for a full disk."),
            family(
                "disk_overhead_bytes", .gauge, sum(disks, \.diskOverheadBytes),
                "What lies beside the entries: the log of the index, indexes set aside."),
            family(
                "disk_limit_bytes", .gauge, sum(disks, \.diskBytesMax),
                "The limit of the disk tier; 0 for none."),
            family(
                "disk_degraded_since_seconds", .gauge,
                disks.map { $0.degradedSince / 1_000 }.filter { $0 > 0 }.min() ?? 0,
                "Since when the disk tier fails, seconds since 1970; 0 where it works."),
            family(
                "disk_failures_total", .counter, sum(disks, \.diskFailures),
                "How often the disk tier began to fail."),
            family(
                "disk_written_bytes_total", .counter, sum(disks, \.diskBytesWritten),
                "Bytes of bodies that were written to the disk tier."),
            family(
                "disk_trims_total", .counter, sum(disks, \.diskTrims),
                "How often the disk tier began to go down to its low-water mark."),
            family(
                "disk_trimmed_entries_total", .counter, sum(disks, \.diskEntriesTrimmed),
                "Entries that made room in the disk tier."),
            family(
                "disk_expired_entries_total", .counter, sum(disks, \.diskEntriesExpired),
                "Entries of the disk tier that were over age."),
            family(
                "entries_lost_total", .counter, sum(disks, \.entriesLost),
                "Entries that were found damaged and removed."),
            family(
                "indexes_set_aside_total", .counter, sum(disks, \.indexesSetAside),
                "Indexes that were damaged or of another version, and made anew."),
            family(
                "stores_skipped_total", .counter, sum(disks, \.storesSkipped),
                "Stores that the disk did not take."),
        ]
    }

    private static func sum(
        _ caches: [CacheStatus], _ value: KeyPath<CacheStatus, UInt64>
    ) -> UInt64 {
        caches.reduce(0) { sum, cache in
            let (total, isOver) = sum.addingReportingOverflow(cache[keyPath: value])
            return isOver ? .max : total
        }
    }
}

/// Metrics of the named caches: contents, queries and limits. Each sample has the label `cache`.
/// Their number is limited as in the status; the default cache accounts for the remainder.
enum NamedCacheMetrics {
    static func families(_ stores: [CacheStatus]) -> [MetricFamily] {
        let caches = byName(stores)
        guard !caches.isEmpty else { return [] }
        return usage(caches) + queries(caches)
    }

    /// Returns one cache per name, because a set of labels must be unique.
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

/// Metrics of the read-only directories in which caches look up missing entries.
enum ReadOnlyMetrics {
    static func families(_ stores: [CacheStatus]) -> [MetricFamily] {
        let directories = distinct(stores)
        guard !directories.isEmpty else { return [] }
        return [
            family(
                "up", .gauge, "1 where a directory that is read only can be used, else 0.",
                directories
            ) { $0.isUsable ? 1 : 0 },
            family(
                "hits_total", .counter, "Queries that were answered from the directory.",
                directories, \.hits),
            family(
                "damaged_total", .counter,
                "Entries of the directory that were not what its index says.", directories,
                \.damaged),
        ]
    }

    /// Returns each directory once, because a set of labels must be unique.
    private static func distinct(_ stores: [CacheStatus]) -> [ReadOnlyDirectory] {
        var seen: Set<[String]> = []
        return stores.flatMap(\.readOnly).filter { seen.insert([$0.cache, $0.path]).inserted }
    }

    private static func family(
        _ name: String, _ kind: MetricFamily.Kind, _ help: String,
        _ directories: [ReadOnlyDirectory], _ value: (ReadOnlyDirectory) -> UInt64
    ) -> MetricFamily {
        var family = MetricFamily("imagebus_cache_read_only_\(name)", kind, help)
        for directory in directories {
            family.add(
                value(directory), [("cache", directory.cacheName), ("path", directory.path)])
        }
        return family
    }
}

extension ReadOnlyDirectory {
    /// The name of its cache, as in the configuration.
    var cacheName: String { cache.isEmpty ? "default" : cache }

    /// Whether the directory can be used.
    var isUsable: Bool { reason.isEmpty }
}
