import Model

/// Metrics of the contents and disks of the cache processes.
enum StoreMetrics {
    static func families(_ caches: [CacheStatus]) -> [MetricFamily] {
        guard !caches.isEmpty else { return [] }
        let disks = caches.filter { $0.disk != .none }
        return tiers(caches, disks) + memory(caches)
            + (disks.isEmpty ? [] : disk(disks))
    }

    private static func tiers(_ caches: [CacheStatus], _ disks: [CacheStatus]) -> [MetricFamily] {
        let memory = (
            tier: "memory", entries: sum(caches, \.memoryEntries),
            bytes: sum(caches, \.memoryBytes)
        )
        let disk = (
            tier: "disk", entries: sum(disks, \.diskEntries),
            bytes: sum(disks, \.diskBytes)
        )
        let tiers = MetricRows(disks.isEmpty ? [memory] : [memory, disk]) { [("tier", $0.tier)] }
        return [
            tiers.family("cache_entries", .gauge, "Entries in a cache tier.") { $0.entries },
            tiers.family("cache_bytes", .gauge, "Bytes used by a cache tier.") { $0.bytes },
        ]
    }

    private static func memory(_ caches: [CacheStatus]) -> [MetricFamily] {
        [
            family(
                "memory_limit_bytes", .gauge, sum(caches, \.memoryBytesMax),
                "Limit of the memory tier."),
            family(
                "memory_evictions_total", .counter, sum(caches, \.memoryEvictions),
                "Entries evicted from the memory tier."),
            family(
                "memory_shrinks_total", .counter, sum(caches, \.memoryShrinks),
                "Times the memory tier shrank under memory pressure."),
        ]
    }

    private static func family(
        _ name: String, _ kind: MetricFamily.Kind, _ value: UInt64, _ help: String
    ) -> MetricFamily {
        var family = MetricFamily("imagebus_cache_\(name)", kind, help)
        family.add(value)
        return family
    }

    private static func disk(_ disks: [CacheStatus]) -> [MetricFamily] {
        [
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
        let tiers = rows(caches)
        return [
            tiers.family("named_cache_entries", .gauge, "Entries in a named cache.") {
                $0.usage.entries
            },
            tiers.family(
                "named_cache_bytes", .gauge, "Bytes used by the entries of a named cache."
            ) { $0.usage.bytes },
            tiers.family(
                "named_cache_limit_entries", .gauge,
                "The cache's own limit on entries; 0 for none."
            ) { $0.usage.entriesMax },
            tiers.family(
                "named_cache_limit_bytes", .gauge, "The cache's own limit on bytes; 0 for none."
            ) { $0.usage.bytesMax },
        ]
    }

    /// A cache in one tier, with the queries that the tier answered.
    private typealias Tier = (
        cache: String, tier: String, usage: NamedCacheStatus.Usage, hits: UInt64
    )

    private static func rows(_ caches: [NamedCacheStatus]) -> MetricRows<Tier> {
        let tiers: [Tier] = caches.flatMap { cache -> [Tier] in
            [
                (cache.name, "memory", cache.memory, cache.memoryHits),
                (cache.name, "disk", cache.disk, cache.diskHits),
            ]
        }
        return MetricRows(tiers) { [("cache", $0.cache), ("tier", $0.tier)] }
    }

    private static func queries(_ caches: [NamedCacheStatus]) -> [MetricFamily] {
        let named = MetricRows(caches) { [("cache", $0.name)] }
        return [
            rows(caches).family(
                "named_cache_hits_total", .counter,
                "Queries a named cache answered; the coordinator serves most memory hits itself."
            ) { $0.hits },
            named.family(
                "named_cache_misses_total", .counter, "Queries that missed in a named cache.",
                \.misses),
            named.family(
                "named_cache_memory_evictions_total", .counter,
                "Entries evicted from the memory of a named cache.", \.memoryEvictions),
        ]
    }
}

/// Metrics of the read-only directories in which caches look up missing entries.
enum ReadOnlyMetrics {
    static func families(_ stores: [CacheStatus]) -> [MetricFamily] {
        let directories = distinct(stores)
        guard !directories.isEmpty else { return [] }
        let rows = MetricRows(directories) { [("cache", $0.cacheName), ("path", $0.path)] }
        return [
            rows.family(
                "cache_read_only_up", .gauge, "1 if the read-only directory is usable, else 0."
            ) { $0.isUsable ? 1 : 0 },
            rows.family(
                "cache_read_only_hits_total", .counter,
                "Queries answered from the read-only directory.", \.hits),
            rows.family(
                "cache_read_only_damaged_total", .counter,
                "Entries of the read-only directory that did not match its index.", \.damaged),
        ]
    }

    /// Returns each directory once, because a set of labels must be unique.
    private static func distinct(_ stores: [CacheStatus]) -> [ReadOnlyDirectory] {
        var seen: Set<[String]> = []
        return stores.flatMap(\.readOnly).filter { seen.insert([$0.cache, $0.path]).inserted }
    }
}

extension ReadOnlyDirectory {
    /// The name of its cache, as in the configuration.
    var cacheName: String { cache.isEmpty ? "default" : cache }

    /// Whether the directory can be used.
    var isUsable: Bool { reason.isEmpty }
}
