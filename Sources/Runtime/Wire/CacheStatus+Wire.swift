import CMessages
import Messages

extension CacheStatus: WireMessage {
    static var begin: (CPart<Imagebus__V1__CacheStatus>?) -> Void {
        imagebus__v1__cache_status__init
    }
    static var blank: Self { Self() }

    static func fields(
        _ map: some FieldMap, _ value: inout Self, _ wire: CPart<Imagebus__V1__CacheStatus>
    ) throws(WireError) {
        try map.number(
            &value.memoryEntries, &wire.pointee.memory_entries, "CacheStatus.memory_entries")
        try map.number(&value.memoryBytes, &wire.pointee.memory_bytes, "CacheStatus.memory_bytes")
        try map.word(&value.disk, &wire.pointee.disk, "CacheStatus.disk")
        try map.text(
            &value.diskReason, &wire.pointee.disk_reason, "CacheStatus.disk_reason",
            limit: MessageLimits.textBytesMax)
        try map.number(&value.diskEntries, &wire.pointee.disk_entries, "CacheStatus.disk_entries")
        try map.number(&value.diskBytes, &wire.pointee.disk_bytes, "CacheStatus.disk_bytes")
        try map.number(
            &value.diskOverheadBytes, &wire.pointee.disk_overhead_bytes,
            "CacheStatus.disk_overhead_bytes")
        try map.number(
            &value.diskBytesMax, &wire.pointee.disk_bytes_max, "CacheStatus.disk_bytes_max")
        try map.number(&value.entriesLost, &wire.pointee.entries_lost, "CacheStatus.entries_lost")
        try map.number(
            &value.indexesSetAside, &wire.pointee.indexes_set_aside, "CacheStatus.indexes_set_aside"
        )
        try map.number(
            &value.storesSkipped, &wire.pointee.stores_skipped, "CacheStatus.stores_skipped")
    }
}
