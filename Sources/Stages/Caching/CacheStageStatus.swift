package import Model

// The contents and counters of the cache worker, for status reports.
extension CacheStage {
    /// Returns the current status; `fault` is the reason why a configured disk tier is missing.
    package func status(fault: String? = nil) -> CacheStatus {
        var status = counts
        status.memoryEntries = UInt64(clamping: memory.keyedCount)
        status.memoryBytes = UInt64(clamping: memory.cost)
        status.memoryBytesMax = UInt64(clamping: policy.memoryBytesMax)
        status.memoryEntriesMax = UInt64(clamping: policy.memoryCountMax)
        status.storesSkipped += writeBehind.skipped
        status.caches = Array(namedStatuses.prefix(NamedCacheStatus.countMax))
        status.readOnly = Array(directoryStatuses.prefix(ReadOnlyDirectory.totalMax))
        if disk != nil {
            status.diskBytesMax = UInt64(clamping: policy.disk.bytesMax)
            status.diskEntriesMax = UInt64(clamping: policy.disk.countMax)
        }
        if let fault { (status.disk, status.diskReason) = (.degraded, CacheStatus.limited(fault)) }
        if let disk = diskStatus { status.add(disk) }
        return status
    }

    /// The number of bodies queued for the disk.
    package var pendingWrites: Int { writeBehind.count }

    /// The named caches that have entries, had queries, or have their own limits, in order of their
    /// names.
    private var namedStatuses: [NamedCacheStatus] {
        var all = queries
        func change(_ name: String, _ body: (inout NamedCacheStatus) -> Void) {
            body(&all[name, default: NamedCacheStatus(name: name)])
        }
        for (name, usage) in memory.usage {
            change(name) {
                $0.memory.entries = UInt64(clamping: usage.entries)
                $0.memory.bytes = UInt64(clamping: usage.bytes)
            }
        }
        for (name, count) in memory.evictions { change(name) { $0.memoryEvictions = count } }
        for (name, usage) in lastDiskStatus?.caches ?? [:] {
            change(name) {
                $0.disk.entries = UInt64(clamping: usage.entries)
                $0.disk.bytes = UInt64(clamping: usage.bytes)
            }
        }
        for (name, own) in namedPolicies {
            change(name) {
                $0.memory.entriesMax = UInt64(clamping: own.memoryCountMax)
                $0.memory.bytesMax = UInt64(clamping: own.memoryBytesMax)
                $0.disk.entriesMax = UInt64(clamping: own.disk.countMax)
                $0.disk.bytesMax = UInt64(clamping: own.disk.bytesMax)
            }
        }
        return all.values.sorted { $0.name < $1.name }
    }

    /// Updates the query counters of a key's named cache.
    func count(_ key: String, _ change: (inout NamedCacheStatus) -> Void) {
        let name = CacheKey.cache(inStored: key)
        guard !name.isEmpty, queries[name] != nil || queries.count < DiskPolicy.cachesMax else {
            return
        }
        change(&queries[name, default: NamedCacheStatus(name: name)])
    }
}

extension CacheStatus {
    fileprivate mutating func add(_ status: DiskStatus) {
        disk = .healthy
        if let reason = status.health.reason {
            (disk, diskReason) = (.degraded, Self.limited(reason.description))
        }
        diskEntries = UInt64(clamping: status.usage?.entries ?? 0)
        diskBytes = UInt64(clamping: status.usage?.bytes ?? 0)
        diskOverheadBytes = UInt64(clamping: status.usage?.overhead ?? 0)
        entriesLost = UInt64(clamping: status.damaged)
        indexesSetAside = UInt64(clamping: status.rebuilt)
        indexReason = Self.limited(status.quarantineReason?.description ?? "")
        indexUpgradedFrom = UInt64(clamping: status.upgradedFrom ?? 0)
        degradedSince = UInt64(clamping: status.degradedSince?.milliseconds ?? 0)
        diskBytesWritten = status.counts.bytesWritten
        diskTrims = status.counts.trims
        diskEntriesTrimmed = status.counts.trimmed.entries
        diskEntriesExpired = status.counts.expired.entries
        diskFailures = status.counts.failures
    }

    /// Truncates a text to the length that a message allows.
    static func limited(_ text: String) -> String {
        let bytes = text.utf8.filter { $0 != 0 }.prefix(MessageLimits.textBytesMax)
        var end = bytes.count
        while end > 0 {
            if let whole = String(validating: bytes.prefix(end), as: UTF8.self) { return whole }
            end -= 1
        }
        return ""
    }
}
