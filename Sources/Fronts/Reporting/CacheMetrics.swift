import Model

/// Metrics of the contents and disks of the cache processes.
enum StoreMetrics {
    static func families(_ caches: [CacheStatus]) -> [MetricFamily] {
        guard !caches.isEmpty else { return [] }
        let disks = caches.filter { $0.disk != .none }
        return [entries(caches, disks), bytes(caches, disks)] + memory(caches)
            + (disks.isEmpty ? [] : disk(disks))
    }

    private static func entries(_ caches: [CacheStatus], _ disks: [CacheStatus]) -> MetricFamily {
        var family = MetricFamily("imagebus_cache_entries", .gauge, "Entries in a cache tier.")
        family.add(sum(caches, \.memoryEntries), [("tier", "memory")])
        if !disks.isEmpty { family.add(sum(disks, \.diskEntries), [("tier", "disk")]) }
        return family
    }

    private static func bytes(_ caches: [CacheStatus], _ disks: [CacheStatus]) -> MetricFamily {
        var family = MetricFamily("imagebus_cache_bytes", .gauge, "Bytes used by a cache tier.")
        family.add(sum(caches, \.memoryBytes), [("tier", "memory")])
        if !disks.isEmpty { family.add(sum(disks, \.diskBytes), [("tier", "disk")]) }
        return family
    }

    private static func memory(_ caches: [CacheStatus]) -> [MetricFamily] {
        var limit = MetricFamily(
            "imagebus_cache_memory_limit_bytes", .gauge, "Limit of the memory tier.")
        limit.add(sum(caches, \.memoryBytesMax))
        var evictions = MetricFamily(
            "imagebus_cache_memory_evictions_total", .counter,
            "Entries evicted from the memory tier.")
        evictions.add(sum(caches, \.memoryEvictions))
        var shrinks = MetricFamily(
            "imagebus_cache_memory_shrinks_total", .counter,
            "Times the memory tier shrank under memory pressure.")
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
                "1 if the disk tier works, 0 while it fails, such as on a full disk."),
            family(
                "disk_overhead_bytes", .gauge, sum(disks, \.diskOverheadBytes),
                "Bytes used besides the entries: index log and quarantined indexes."),
            family(
                "disk_limit_bytes", .gauge, sum(disks, \.diskBytesMax),
                "Limit of the disk tier; 0 for none."),
            family(
                "disk_degraded_since_seconds", .gauge,
                disks.map { $0.degradedSince / 1_000 }.filter { $0 > 0 }.min() ?? 0,
                "Unix time at which the disk tier began to fail; 0 if it works."),
            family(
                "disk_failures_total", .counter, sum(disks, \.diskFailures),
                "Times the disk tier began to fail."),
            family(
                "disk_written_bytes_total", .counter, sum(disks, \.diskBytesWritten),
                "Body bytes written to the disk tier."),
            family(
                "disk_trims_total", .counter, sum(disks, \.diskTrims),
                "Times the disk tier was trimmed to its low-water mark."),
            family(
                "disk_trimmed_entries_total", .counter, sum(disks, \.diskEntriesTrimmed),
                "Entries evicted from the disk tier."),
            family(
                "disk_expired_entries_total", .counter, sum(disks, \.diskEntriesExpired),
                "Entries of the disk tier that expired."),
            family(
                "entries_lost_total", .counter, sum(disks, \.entriesLost),
                "Damaged entries found and removed."),
            family(
                "indexes_set_aside_total", .counter, sum(disks, \.indexesSetAside),
                "Index rebuilds after corruption or a version change."),
            family(
                "stores_skipped_total", .counter, sum(disks, \.storesSkipped),
                "Stores skipped by the disk tier."),
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
            byTier("entries", "Entries in a named cache.", caches, \.entries),
            byTier("bytes", "Bytes used by the entries of a named cache.", caches, \.bytes),
            byTier(
                "limit_entries", "The cache's own limit on entries; 0 for none.", caches,
                \.entriesMax),
            byTier(
                "limit_bytes", "The cache's own limit on bytes; 0 for none.", caches, \.bytesMax),
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
            "Queries a named cache answered; the coordinator serves most memory hits itself.")
        var misses = MetricFamily(
            "imagebus_named_cache_misses_total", .counter,
            "Queries that missed in a named cache.")
        var evictions = MetricFamily(
            "imagebus_named_cache_memory_evictions_total", .counter,
            "Entries evicted from the memory of a named cache.")
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
                "up", .gauge, "1 if the read-only directory is usable, else 0.",
                directories
            ) { $0.isUsable ? 1 : 0 },
            family(
                "hits_total", .counter, "Queries answered from the read-only directory.",
                directories, \.hits),
            family(
                "damaged_total", .counter,
                "Entries of the read-only directory that did not match its index.", directories,
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
