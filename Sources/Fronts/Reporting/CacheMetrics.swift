import Model

/// Metrics of the contents and disks of the cache processes.
enum StoreMetrics {
    static func families(_ caches: [CacheStatus]) -> [MetricFamily] {
        guard !caches.isEmpty else { return [] }
        let disks = caches.filter { $0.disk != .none }
        return tiers(caches, disks) + memory(caches) + (disks.isEmpty ? [] : disk(disks))
    }

    private static func tiers(_ caches: [CacheStatus], _ disks: [CacheStatus]) -> [MetricFamily] {
        let memory = ("memory", sum(caches, \.memoryEntries), sum(caches, \.memoryBytes))
        let disk = ("disk", sum(disks, \.diskEntries), sum(disks, \.diskBytes))
        let tiers = MetricRows(disks.isEmpty ? [memory] : [memory, disk]) { [("tier", $0.0)] }
        return [
            tiers.family("cache_entries", "Entries in a cache tier.") { $0.1 },
            tiers.family("cache_bytes", "Bytes used by a cache tier.") { $0.2 },
        ]
    }

    private static func memory(_ caches: [CacheStatus]) -> [MetricFamily] {
        let all = MetricRows([caches]) { _ in [] }
        return [
            all.total("memory_limit_bytes", "Limit of the memory tier.", \.memoryBytesMax),
            all.total(
                "memory_evictions_total", "Entries evicted from the memory tier.",
                \.memoryEvictions),
            all.total(
                "memory_shrinks_total", "Times the memory tier shrank under memory pressure.",
                \.memoryShrinks),
        ]
    }

    private static func disk(_ disks: [CacheStatus]) -> [MetricFamily] {
        let all = MetricRows([disks]) { _ in [] }
        return [
            all.family(
                "cache_disk_up",
                "1 if the disk tier works, 0 while it fails, such as on a full disk."
            ) { $0.allSatisfy { $0.disk == .healthy } ? 1 : 0 },
            all.total(
                "disk_overhead_bytes",
                "Bytes used besides the entries: index log and quarantined indexes.",
                \.diskOverheadBytes),
            all.total("disk_limit_bytes", "Limit of the disk tier; 0 for none.", \.diskBytesMax),
            all.family(
                "cache_disk_degraded_since_seconds",
                "Unix time at which the disk tier began to fail; 0 if it works."
            ) { $0.map { $0.degradedSince / 1_000 }.filter { $0 > 0 }.min() ?? 0 },
            all.total("disk_failures_total", "Times the disk tier began to fail.", \.diskFailures),
            all.total(
                "disk_written_bytes_total", "Body bytes written to the disk tier.",
                \.diskBytesWritten),
            all.total(
                "disk_trims_total", "Times the disk tier was trimmed to its low-water mark.",
                \.diskTrims),
            all.total(
                "disk_trimmed_entries_total", "Entries evicted from the disk tier.",
                \.diskEntriesTrimmed),
            all.total(
                "disk_expired_entries_total", "Entries of the disk tier that expired.",
                \.diskEntriesExpired),
            all.total("entries_lost_total", "Damaged entries found and removed.", \.entriesLost),
            all.total(
                "indexes_set_aside_total", "Index rebuilds after corruption or a version change.",
                \.indexesSetAside),
            all.total("stores_skipped_total", "Stores skipped by the disk tier.", \.storesSkipped),
        ]
    }

    fileprivate static func sum(
        _ caches: [CacheStatus], _ value: KeyPath<CacheStatus, UInt64>
    ) -> UInt64 {
        caches.reduce(0) { sum, cache in
            let (total, isOver) = sum.addingReportingOverflow(cache[keyPath: value])
            return isOver ? .max : total
        }
    }
}

extension MetricRows<[CacheStatus]> {
    /// Returns the family `imagebus_cache_NAME` with the sum of a value of all caches.
    fileprivate func total(
        _ name: String, _ help: String, _ value: KeyPath<CacheStatus, UInt64>
    ) -> MetricFamily {
        family("cache_\(name)", help) { StoreMetrics.sum($0, value) }
    }
}

/// Metrics of the named caches: contents, queries and limits. Each sample has the label `cache`.
/// Their number is limited as in the status; the default cache accounts for the remainder.
enum NamedCacheMetrics {
    static func families(_ stores: [CacheStatus]) -> [MetricFamily] {
        // One cache per name, because a set of labels must be unique.
        let named = stores.flatMap(\.caches).map { ($0.name, $0) }
        let byName = Dictionary(named) { first, _ in first }
        let all = byName.values.sorted { $0.name < $1.name }.prefix(NamedCacheStatus.countMax)
        let caches = MetricRows(Array(all)) { [("cache", $0.name)] }
        let tiers = MetricRows(
            all.flatMap { cache in
                [
                    (cache.name, "memory", cache.memory, cache.memoryHits),
                    (cache.name, "disk", cache.disk, cache.diskHits),
                ]
            }
        ) { [("cache", $0.0), ("tier", $0.1)] }
        return [
            tiers.family("named_cache_entries", "Entries in a named cache.") { $0.2.entries },
            tiers.family("named_cache_bytes", "Bytes used by the entries of a named cache.") {
                $0.2.bytes
            },
            tiers.family(
                "named_cache_limit_entries", "The cache's own limit on entries; 0 for none."
            ) { $0.2.entriesMax },
            tiers.family(
                "named_cache_limit_bytes", "The cache's own limit on bytes; 0 for none."
            ) { $0.2.bytesMax },
            tiers.family(
                "named_cache_hits_total",
                "Queries a named cache answered; the coordinator serves most memory hits itself."
            ) { $0.3 },
            caches.family(
                "named_cache_misses_total", "Queries that missed in a named cache.", \.misses),
            caches.family(
                "named_cache_memory_evictions_total",
                "Entries evicted from the memory of a named cache.", \.memoryEvictions),
        ]
    }
}

/// Metrics of the read-only directories in which caches look up missing entries.
enum ReadOnlyMetrics {
    static func families(_ stores: [CacheStatus]) -> [MetricFamily] {
        // A set of labels must be unique.
        var seen: Set<[String]> = []
        let directories = stores.flatMap(\.readOnly)
            .filter { seen.insert([$0.cache, $0.path]).inserted }
        let rows = MetricRows(directories) { [("cache", $0.cacheName), ("path", $0.path)] }
        return [
            rows.family(
                "cache_read_only_up", "1 if the read-only directory is usable, else 0."
            ) { $0.isUsable ? 1 : 0 },
            rows.family(
                "cache_read_only_hits_total",
                "Queries answered from the read-only directory.", \.hits),
            rows.family(
                "cache_read_only_damaged_total",
                "Entries of the read-only directory that did not match its index.", \.damaged),
        ]
    }
}

extension ReadOnlyDirectory {
    /// The name of its cache, as in the configuration.
    var cacheName: String { cache.isEmpty ? "default" : cache }

    /// Whether the directory can be used.
    var isUsable: Bool { reason.isEmpty }
}
