import Messages

/// What the cache processes keep, and how their disks are, as metrics.
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
