import Messages

extension CacheStatus {
    /// A cache whose disk is full.
    static var sample: CacheStatus {
        var status = CacheStatus()
        status.memoryEntries = 2
        status.memoryBytes = 900
        status.disk = .degraded
        status.diskReason = "full: no space"
        status.diskEntries = 3
        status.diskBytes = 5_000
        status.diskOverheadBytes = 70_000
        status.entriesLost = 4
        status.indexesSetAside = 1
        status.storesSkipped = 2
        return status
    }
}
