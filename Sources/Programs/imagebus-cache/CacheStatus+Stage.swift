import Caching
import Messages

extension CacheStatus {
    /// What the stage says of itself; `fault` is why it has no disk although it should have one.
    init(_ statistics: CacheStatistics, fault: String?) {
        self.init()
        memoryEntries = UInt64(clamping: statistics.memoryEntries)
        memoryBytes = UInt64(clamping: statistics.memoryBytes)
        memoryBytesMax = UInt64(clamping: statistics.memoryBytesMax)
        memoryEntriesMax = UInt64(clamping: statistics.memoryCountMax)
        memoryHits = statistics.memoryHits
        diskHits = statistics.diskHits
        misses = statistics.misses
        memoryEvictions = statistics.evictions
        memoryShrinks = statistics.memoryShrinks
        diskEntriesMax = UInt64(clamping: statistics.diskCountMax)
        storesSkipped = statistics.diskSkipped + statistics.writeBehindSkipped
        diskBytesMax = UInt64(clamping: statistics.diskBytesMax)
        caches = statistics.caches.sorted { $0.key < $1.key }
            .prefix(NamedCacheStatus.countMax).map { NamedCacheStatus($0.key, $0.value) }
        readOnly = statistics.directories.prefix(ReadOnlyDirectory.totalMax)
            .map(ReadOnlyDirectory.init)
        if let fault { (disk, diskReason) = (.degraded, Self.limited(fault)) }
        guard let status = statistics.disk else { return }
        disk = .healthy
        if let reason = status.health.reason {
            (disk, diskReason) = (.degraded, Self.limited(reason.description))
        }
        diskEntries = UInt64(clamping: status.usage?.entries ?? 0)
        diskBytes = UInt64(clamping: status.usage?.bytes ?? 0)
        diskOverheadBytes = UInt64(clamping: status.usage?.overhead ?? 0)
        entriesLost = UInt64(clamping: status.damaged)
        indexesSetAside = UInt64(clamping: status.rebuilt)
        indexReason = Self.limited(status.setAsideReason?.description ?? "")
        indexUpgradedFrom = UInt64(clamping: status.upgradedFrom ?? 0)
        degradedSince = UInt64(clamping: status.degradedSince?.milliseconds ?? 0)
        diskBytesWritten = status.counts.bytesWritten
        diskTrims = status.counts.trims
        diskEntriesTrimmed = status.counts.trimmed.entries
        diskEntriesExpired = status.counts.expired.entries
        diskFailures = status.counts.failures
    }

    /// A text that a message takes.
    fileprivate static func limited(_ text: String) -> String {
        let bytes = text.utf8.filter { $0 != 0 }.prefix(MessageLimits.textBytesMax)
        var end = bytes.count
        while end > 0 {
            if let whole = String(validating: bytes.prefix(end), as: UTF8.self) { return whole }
            end -= 1
        }
        return ""
    }
}

extension NamedCacheStatus {
    fileprivate init(_ name: String, _ cache: CacheStatistics.Named) {
        self.init(name: name)
        memory = Usage(cache.memory, cache.memoryLimits)
        disk = Usage(cache.disk, cache.diskLimits)
        memoryHits = cache.queries.memoryHits
        diskHits = cache.queries.diskHits
        misses = cache.queries.misses
        memoryEvictions = cache.evictions
    }
}

extension ReadOnlyDirectory {
    fileprivate init(_ directory: CacheStatistics.Directory) {
        self.init(cache: directory.cache, path: directory.path)
        reason = CacheStatus.limited(directory.reason)
        (hits, damaged) = (directory.hits, directory.damaged)
    }
}

extension NamedCacheStatus.Usage {
    fileprivate init(_ usage: ShareUsage, _ limits: ShareLimits) {
        self.init()
        entries = UInt64(clamping: usage.entries)
        bytes = UInt64(clamping: usage.bytes)
        entriesMax = UInt64(clamping: limits.countMax)
        bytesMax = UInt64(clamping: limits.bytesMax)
    }
}
