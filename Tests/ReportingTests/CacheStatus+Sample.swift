import Model

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
        status.indexReason = "badIndex: malformed"
        status.storesSkipped = 2
        status.memoryBytesMax = 4_096
        status.memoryHits = 11
        status.memoryEvictions = 12
        status.memoryShrinks = 13
        status.diskHits = 14
        status.misses = 15
        status.diskEntriesMax = 16
        status.degradedSince = 1_709_294_399_500
        status.diskBytesWritten = 6_144
        status.diskTrims = 17
        status.diskEntriesTrimmed = 18
        status.diskEntriesExpired = 19
        status.diskFailures = 20
        var hot = NamedCacheStatus(name: "hot")
        (hot.memory.entries, hot.memory.bytes, hot.memory.entriesMax) = (21, 22, 25)
        (hot.disk.entries, hot.disk.bytes, hot.disk.bytesMax) = (23, 24, 1 << 20)
        (hot.memoryHits, hot.diskHits, hot.misses, hot.memoryEvictions) = (26, 27, 28, 29)
        status.caches = [hot]
        var further = ReadOnlyDirectory(cache: "", path: "/srv/a")
        (further.hits, further.damaged) = (30, 31)
        var missing = ReadOnlyDirectory(cache: "hot", path: "/srv/b")
        missing.reason = "there is no such directory"
        status.readOnly = [further, missing]
        return status
    }
}
