import CMessages
import Messages

extension CacheStatus {
    init(_ wire: Imagebus__V1__CacheStatus, _ read: FieldReader) throws(WireError) {
        self.init()
        memoryEntries = wire.memory_entries
        memoryBytes = wire.memory_bytes
        disk = try read.known(wire.disk.rawValue, "CacheStatus.disk")
        diskReason = try read.text(
            wire.disk_reason, "CacheStatus.disk_reason", limit: MessageLimits.textBytesMax)
        diskEntries = wire.disk_entries
        diskBytes = wire.disk_bytes
        diskOverheadBytes = wire.disk_overhead_bytes
        diskBytesMax = wire.disk_bytes_max
        entriesLost = wire.entries_lost
        indexesSetAside = wire.indexes_set_aside
        storesSkipped = wire.stores_skipped
    }

    func wire(_ write: FieldWriter) throws(WireError)
        -> UnsafeMutablePointer<Imagebus__V1__CacheStatus>
    {
        let wire = try write.make(imagebus__v1__cache_status__init)
        wire.pointee.memory_entries = memoryEntries
        wire.pointee.memory_bytes = memoryBytes
        wire.pointee.disk = .init(rawValue: .init(disk.rawValue))
        wire.pointee.disk_reason = try write.text(
            diskReason, "CacheStatus.disk_reason", limit: MessageLimits.textBytesMax)
        wire.pointee.disk_entries = diskEntries
        wire.pointee.disk_bytes = diskBytes
        wire.pointee.disk_overhead_bytes = diskOverheadBytes
        wire.pointee.disk_bytes_max = diskBytesMax
        wire.pointee.entries_lost = entriesLost
        wire.pointee.indexes_set_aside = indexesSetAside
        wire.pointee.stores_skipped = storesSkipped
        return wire
    }
}
