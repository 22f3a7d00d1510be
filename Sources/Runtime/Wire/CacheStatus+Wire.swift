import CMessages
import ImageModel
import Messages

extension CacheStatus: WireMessage {
    typealias Form = Imagebus__V1__CacheStatus
    static var begin: (CPart<Form>?) -> Void { imagebus__v1__cache_status__init }
    static var blank: Self { Self() }

    mutating func fields(_ map: some FieldMap, _ wire: CPart<Form>) throws(WireError) {
        try map.number(&memoryEntries, &wire.pointee.memory_entries, "CacheStatus.memory_entries")
        try map.number(&memoryBytes, &wire.pointee.memory_bytes, "CacheStatus.memory_bytes")
        try map.word(&disk, &wire.pointee.disk, "CacheStatus.disk")
        try map.text(
            &diskReason, &wire.pointee.disk_reason, "CacheStatus.disk_reason",
            limit: MessageLimits.textBytesMax)
        try map.number(&diskEntries, &wire.pointee.disk_entries, "CacheStatus.disk_entries")
        try map.number(&diskBytes, &wire.pointee.disk_bytes, "CacheStatus.disk_bytes")
        try map.number(
            &diskOverheadBytes, &wire.pointee.disk_overhead_bytes, "CacheStatus.disk_overhead_bytes"
        )
        try map.number(&diskBytesMax, &wire.pointee.disk_bytes_max, "CacheStatus.disk_bytes_max")
        try map.number(&entriesLost, &wire.pointee.entries_lost, "CacheStatus.entries_lost")
        try map.number(
            &indexesSetAside, &wire.pointee.indexes_set_aside, "CacheStatus.indexes_set_aside")
        try map.number(&storesSkipped, &wire.pointee.stores_skipped, "CacheStatus.stores_skipped")
        try map.number(
            &memoryBytesMax, &wire.pointee.memory_bytes_max, "CacheStatus.memory_bytes_max")
        try map.number(
            &memoryEntriesMax, &wire.pointee.memory_entries_max, "CacheStatus.memory_entries_max")
        try map.number(
            &diskEntriesMax, &wire.pointee.disk_entries_max, "CacheStatus.disk_entries_max")
        try map.number(&degradedSince, &wire.pointee.degraded_since, "CacheStatus.degraded_since")
        try map.number(&memoryHits, &wire.pointee.memory_hits, "CacheStatus.memory_hits")
        try map.number(&diskHits, &wire.pointee.disk_hits, "CacheStatus.disk_hits")
        try map.number(&misses, &wire.pointee.misses, "CacheStatus.misses")
        try map.number(
            &diskBytesWritten, &wire.pointee.disk_bytes_written, "CacheStatus.disk_bytes_written")
        try map.number(&diskTrims, &wire.pointee.disk_trims, "CacheStatus.disk_trims")
        try map.number(
            &diskEntriesTrimmed, &wire.pointee.disk_entries_trimmed,
            "CacheStatus.disk_entries_trimmed")
        try map.number(
            &diskEntriesExpired, &wire.pointee.disk_entries_expired,
            "CacheStatus.disk_entries_expired")
        try map.number(
            &memoryEvictions, &wire.pointee.memory_evictions, "CacheStatus.memory_evictions")
        try map.number(&memoryShrinks, &wire.pointee.memory_shrinks, "CacheStatus.memory_shrinks")
        try map.number(&diskFailures, &wire.pointee.disk_failures, "CacheStatus.disk_failures")
        try map.list(
            &caches, &wire.pointee.n_caches, &wire.pointee.caches, "CacheStatus.caches",
            limit: NamedCacheStatus.countMax)
        try map.number(
            &indexUpgradedFrom, &wire.pointee.index_upgraded_from,
            "CacheStatus.index_upgraded_from")
        try map.text(
            &indexReason, &wire.pointee.index_reason, "CacheStatus.index_reason",
            limit: MessageLimits.textBytesMax)
        try map.list(
            &readOnly, &wire.pointee.n_read_only, &wire.pointee.read_only, "CacheStatus.read_only",
            limit: ReadOnlyDirectory.totalMax)
    }
}

extension ReadOnlyDirectory: WireMessage {
    typealias Form = Imagebus__V1__ReadOnlyDirectory
    static var begin: (CPart<Form>?) -> Void { imagebus__v1__read_only_directory__init }
    static var blank: Self { Self(cache: "", path: "") }

    mutating func fields(_ map: some FieldMap, _ wire: CPart<Form>) throws(WireError) {
        try map.text(
            &cache, &wire.pointee.cache, "ReadOnlyDirectory.cache",
            limit: RequestLimits.nameBytesMax)
        try map.text(
            &path, &wire.pointee.path, "ReadOnlyDirectory.path", limit: FileRoot.bytesMax)
        try map.text(
            &reason, &wire.pointee.reason, "ReadOnlyDirectory.reason",
            limit: MessageLimits.textBytesMax)
        try map.number(&hits, &wire.pointee.hits, "ReadOnlyDirectory.hits")
        try map.number(&damaged, &wire.pointee.damaged, "ReadOnlyDirectory.damaged")
    }
}

extension NamedCacheStatus: WireMessage {
    typealias Form = Imagebus__V1__NamedCacheStatus
    static var begin: (CPart<Form>?) -> Void { imagebus__v1__named_cache_status__init }
    static var blank: Self { Self(name: "") }

    mutating func fields(_ map: some FieldMap, _ wire: CPart<Form>) throws(WireError) {
        try map.text(
            &name, &wire.pointee.name, "NamedCacheStatus.name", limit: RequestLimits.nameBytesMax)
        try map.part(&memory, &wire.pointee.memory, "NamedCacheStatus.memory")
        try map.part(&disk, &wire.pointee.disk, "NamedCacheStatus.disk")
        try map.number(
            &memoryHits, &wire.pointee.memory_hits, "NamedCacheStatus.memory_hits")
        try map.number(&diskHits, &wire.pointee.disk_hits, "NamedCacheStatus.disk_hits")
        try map.number(&misses, &wire.pointee.misses, "NamedCacheStatus.misses")
        try map.number(
            &memoryEvictions, &wire.pointee.memory_evictions, "NamedCacheStatus.memory_evictions")
    }
}

extension NamedCacheStatus.Usage: WireMessage {
    typealias Form = Imagebus__V1__NamedCacheStatus__Usage
    static var begin: (CPart<Form>?) -> Void { imagebus__v1__named_cache_status__usage__init }
    static var blank: Self { Self() }

    mutating func fields(_ map: some FieldMap, _ wire: CPart<Form>) throws(WireError) {
        try map.number(&entries, &wire.pointee.entries, "Usage.entries")
        try map.number(&bytes, &wire.pointee.bytes, "Usage.bytes")
        try map.number(&entriesMax, &wire.pointee.entries_max, "Usage.entries_max")
        try map.number(&bytesMax, &wire.pointee.bytes_max, "Usage.bytes_max")
    }
}
