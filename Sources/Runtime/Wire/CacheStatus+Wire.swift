import CMessages
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
    }
}
