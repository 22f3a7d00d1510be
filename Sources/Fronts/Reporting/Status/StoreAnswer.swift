import Messages

/// What a cache process keeps, in the same object.
struct StoreAnswer: Encodable {
    struct Memory: Encodable {
        let entries: UInt64
        let bytes: UInt64
        let limitBytes: UInt64
        /// null for none.
        let limitEntries: UInt64?
        /// Queries of the coordinator that were answered; it answers most hits by itself.
        let hits: UInt64
        let evictions: UInt64
        /// Since memory was short.
        let shrinks: UInt64

        func encode(to encoder: any Encoder) throws {
            var values = encoder.container(keyedBy: CodingKeys.self)
            try values.encode(entries, forKey: .entries)
            try values.encode(bytes, forKey: .bytes)
            try values.encode(limitBytes, forKey: .limitBytes)
            try values.encode(limitEntries, forKey: .limitEntries)
            try values.encode(hits, forKey: .hits)
            try values.encode(evictions, forKey: .evictions)
            try values.encode(shrinks, forKey: .shrinks)
        }

        private enum CodingKeys: String, CodingKey {
            case entries, bytes, limitBytes, limitEntries, hits, evictions, shrinks
        }
    }

    struct Disk: Encodable {
        /// `none`, `healthy` or `degraded`.
        let state: String
        /// Why it is degraded; null where it is not.
        let reason: String?
        /// Milliseconds since 1970; null where it is not degraded.
        let degradedSince: UInt64?
        let entries: UInt64
        let bytes: UInt64
        let overheadBytes: UInt64
        /// null for none.
        let limitBytes: UInt64?
        /// null for none.
        let limitEntries: UInt64?
        let hits: UInt64
        let misses: UInt64
        let bytesWritten: UInt64
        let trims: UInt64
        let entriesTrimmed: UInt64
        let entriesExpired: UInt64
        let failures: UInt64
        let entriesLost: UInt64
        let indexesSetAside: UInt64
        /// Why the last of them was; null where none was.
        let indexReason: String?
        /// The version before the cache upgraded it; null where it did not.
        let indexUpgradedFrom: UInt64?
        let storesSkipped: UInt64

        func encode(to encoder: any Encoder) throws {
            var values = encoder.container(keyedBy: CodingKeys.self)
            try values.encode(state, forKey: .state)
            try values.encode(reason, forKey: .reason)
            try values.encode(degradedSince, forKey: .degradedSince)
            try values.encode(entries, forKey: .entries)
            try values.encode(bytes, forKey: .bytes)
            try values.encode(overheadBytes, forKey: .overheadBytes)
            try values.encode(limitBytes, forKey: .limitBytes)
            try values.encode(limitEntries, forKey: .limitEntries)
            try values.encode(hits, forKey: .hits)
            try values.encode(misses, forKey: .misses)
            try values.encode(bytesWritten, forKey: .bytesWritten)
            try values.encode(trims, forKey: .trims)
            try values.encode(entriesTrimmed, forKey: .entriesTrimmed)
            try values.encode(entriesExpired, forKey: .entriesExpired)
            try values.encode(failures, forKey: .failures)
            try values.encode(entriesLost, forKey: .entriesLost)
            try values.encode(indexesSetAside, forKey: .indexesSetAside)
            try values.encode(indexReason, forKey: .indexReason)
            try values.encode(indexUpgradedFrom, forKey: .indexUpgradedFrom)
            try values.encode(storesSkipped, forKey: .storesSkipped)
        }

        private enum CodingKeys: String, CodingKey {
            case state, reason, degradedSince, entries, bytes, overheadBytes, limitBytes
            case limitEntries, hits, misses, bytesWritten, trims, entriesTrimmed, entriesExpired
            case failures, entriesLost, indexesSetAside, indexReason, indexUpgradedFrom
            case storesSkipped
        }
    }

    /// What a named cache keeps in one tier, and may keep.
    struct Share: Encodable {
        let entries: UInt64
        let bytes: UInt64
        /// null for none of its own.
        let limitBytes: UInt64?
        /// null for none of its own.
        let limitEntries: UInt64?
        /// Queries of the coordinator that were answered.
        let hits: UInt64

        init(_ usage: NamedCacheStatus.Usage, hits: UInt64) {
            self.hits = hits
            (entries, bytes) = (usage.entries, usage.bytes)
            limitBytes = usage.bytesMax == 0 ? nil : usage.bytesMax
            limitEntries = usage.entriesMax == 0 ? nil : usage.entriesMax
        }

        func encode(to encoder: any Encoder) throws {
            var values = encoder.container(keyedBy: CodingKeys.self)
            try values.encode(entries, forKey: .entries)
            try values.encode(bytes, forKey: .bytes)
            try values.encode(limitBytes, forKey: .limitBytes)
            try values.encode(limitEntries, forKey: .limitEntries)
            try values.encode(hits, forKey: .hits)
        }

        private enum CodingKeys: String, CodingKey {
            case entries, bytes, limitBytes, limitEntries, hits
        }
    }

    /// A named cache.
    struct Named: Encodable {
        let memory: Share
        let disk: Share
        let misses: UInt64
        /// Blocks of its memory that lost their keys.
        let memoryEvictions: UInt64

        init(_ cache: NamedCacheStatus) {
            memory = Share(cache.memory, hits: cache.memoryHits)
            disk = Share(cache.disk, hits: cache.diskHits)
            (misses, memoryEvictions) = (cache.misses, cache.memoryEvictions)
        }
    }

    /// A directory in which a cache looks for what it does not have itself.
    struct Directory: Encodable {
        let cache: String
        let path: String
        /// Why it cannot be used; null where it can.
        let reason: String?
        let hits: UInt64
        let damaged: UInt64

        init(_ directory: ReadOnlyDirectory) {
            (cache, path) = (directory.cacheName, directory.path)
            reason = directory.isUsable ? nil : directory.reason
            (hits, damaged) = (directory.hits, directory.damaged)
        }

        func encode(to encoder: any Encoder) throws {
            var values = encoder.container(keyedBy: CodingKeys.self)
            try values.encode(cache, forKey: .cache)
            try values.encode(path, forKey: .path)
            try values.encode(reason, forKey: .reason)
            try values.encode(hits, forKey: .hits)
            try values.encode(damaged, forKey: .damaged)
        }

        private enum CodingKeys: String, CodingKey {
            case cache, path, reason, hits, damaged
        }
    }

    let memory: Memory
    let disk: Disk
    /// By name.
    let named: [String: Named]
    let readOnly: [Directory]

    init(_ cache: CacheStatus) {
        named = Dictionary(cache.caches.map { ($0.name, Named($0)) }) { $1 }
        readOnly = cache.readOnly.map(Directory.init)
        memory = Memory(
            entries: cache.memoryEntries, bytes: cache.memoryBytes,
            limitBytes: cache.memoryBytesMax,
            limitEntries: cache.memoryEntriesMax == 0 ? nil : cache.memoryEntriesMax,
            hits: cache.memoryHits, evictions: cache.memoryEvictions, shrinks: cache.memoryShrinks)
        disk = Disk(
            state: cache.disk.name, reason: cache.diskReason.isEmpty ? nil : cache.diskReason,
            degradedSince: cache.degradedSince == 0 ? nil : cache.degradedSince,
            entries: cache.diskEntries, bytes: cache.diskBytes,
            overheadBytes: cache.diskOverheadBytes,
            limitBytes: cache.diskBytesMax == 0 ? nil : cache.diskBytesMax,
            limitEntries: cache.diskEntriesMax == 0 ? nil : cache.diskEntriesMax,
            hits: cache.diskHits, misses: cache.misses, bytesWritten: cache.diskBytesWritten,
            trims: cache.diskTrims, entriesTrimmed: cache.diskEntriesTrimmed,
            entriesExpired: cache.diskEntriesExpired, failures: cache.diskFailures,
            entriesLost: cache.entriesLost, indexesSetAside: cache.indexesSetAside,
            indexReason: cache.indexReason.isEmpty ? nil : cache.indexReason,
            indexUpgradedFrom: cache.indexUpgradedFrom == 0 ? nil : cache.indexUpgradedFrom,
            storesSkipped: cache.storesSkipped)
    }
}
