import Messages

/// The directories in which caches look for what they do not have themselves, as metrics.
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

    /// Each once: a set of labels stands for one sample.
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
    /// Its cache, as the configuration calls it.
    var cacheName: String { cache.isEmpty ? "default" : cache }

    /// Whether something is found there.
    var isUsable: Bool { reason.isEmpty }
}
