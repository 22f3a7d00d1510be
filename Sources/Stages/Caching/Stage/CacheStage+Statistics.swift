internal import ImageModel
internal import Messages

extension CacheStage {
    /// What is held and what was done.
    public var statistics: CacheStatistics {
        var all = counts
        all.memoryEntries = memory.keyedCount
        all.memoryBytes = memory.cost
        all.heldBytes = departing.bytes
        all.stagedBlocks = staged.count
        all.writeBehindCount = writeBehind.count
        all.writeBehindBytes = writeBehind.bytes
        all.writeBehindSkipped = writeBehind.skipped
        all.memoryBytesMax = policy.memoryBytesMax
        all.memoryCountMax = policy.memoryCountMax
        all.diskBytesMax = disk == nil ? 0 : policy.disk.bytesMax
        all.diskCountMax = disk == nil ? 0 : policy.disk.countMax
        all.disk = diskStatus
        all.caches = cacheStatistics
        all.directories = directoryStatistics
        return all
    }

    /// Of named caches that have something, had something, or have limits of their own.
    private var cacheStatistics: [String: CacheStatistics.Named] {
        var all: [String: CacheStatistics.Named] = [:]
        for (name, usage) in memory.usage { all[name, default: .init()].memory = usage }
        for (name, usage) in counts.disk?.caches ?? [:] {
            all[name, default: .init()].disk = ShareUsage(
                entries: usage.entries, bytes: usage.bytes)
        }
        for (name, asked) in queries { all[name, default: .init()].queries = asked }
        for (name, count) in memory.evictions { all[name, default: .init()].evictions = count }
        for (name, own) in namedPolicies {
            all[name, default: .init()].memoryLimits = ShareLimits(
                bytesMax: own.memoryBytesMax, countMax: own.memoryCountMax)
            all[name, default: .init()].diskLimits = ShareLimits(
                bytesMax: own.disk.bytesMax, countMax: own.disk.countMax)
        }
        return all
    }

    /// Counts what a named cache was asked.
    func count(_ key: String, _ change: (inout CacheQueries) -> Void) {
        let name = CacheKey.cache(inStored: key)
        guard !name.isEmpty, queries[name] != nil || queries.count < DiskPolicy.cachesMax else {
            return
        }
        change(&queries[name, default: CacheQueries()])
    }
}
