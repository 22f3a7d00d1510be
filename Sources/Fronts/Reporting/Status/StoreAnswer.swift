import Messages

/// What a cache process keeps, in the same object.
struct StoreAnswer: Encodable {
    struct Memory: Encodable {
        let entries: UInt64
        let bytes: UInt64
    }

    struct Disk: Encodable {
        /// `none`, `healthy` or `degraded`.
        let state: String
        /// Why it is degraded; null where it is not.
        let reason: String?
        let entries: UInt64
        let bytes: UInt64
        let overheadBytes: UInt64
        /// null for none.
        let limitBytes: UInt64?
        let entriesLost: UInt64
        let indexesSetAside: UInt64
        let storesSkipped: UInt64

        func encode(to encoder: any Encoder) throws {
            var values = encoder.container(keyedBy: CodingKeys.self)
            try values.encode(state, forKey: .state)
            try values.encode(reason, forKey: .reason)
            try values.encode(entries, forKey: .entries)
            try values.encode(bytes, forKey: .bytes)
            try values.encode(overheadBytes, forKey: .overheadBytes)
            try values.encode(limitBytes, forKey: .limitBytes)
            try values.encode(entriesLost, forKey: .entriesLost)
            try values.encode(indexesSetAside, forKey: .indexesSetAside)
            try values.encode(storesSkipped, forKey: .storesSkipped)
        }

        private enum CodingKeys: String, CodingKey {
            case state, reason, entries, bytes, overheadBytes, limitBytes, entriesLost
            case indexesSetAside, storesSkipped
        }
    }

    let memory: Memory
    let disk: Disk

    init(_ cache: CacheStatus) {
        memory = Memory(entries: cache.memoryEntries, bytes: cache.memoryBytes)
        disk = Disk(
            state: cache.disk.name, reason: cache.diskReason.isEmpty ? nil : cache.diskReason,
            entries: cache.diskEntries, bytes: cache.diskBytes,
            overheadBytes: cache.diskOverheadBytes,
            limitBytes: cache.diskBytesMax == 0 ? nil : cache.diskBytesMax,
            entriesLost: cache.entriesLost, indexesSetAside: cache.indexesSetAside,
            storesSkipped: cache.storesSkipped)
    }
}
