import Messages

// What the cache processes keep, and how their disks are.
extension StatusTable {
    static func stores(_ report: StatusReport) -> String {
        guard !report.caches.isEmpty else {
            let isExpected = report.processes.contains { $0.kind == .cache }
            return isExpected ? "what the cache keeps is not known yet\n" : ""
        }
        let rows = report.caches.flatMap { cache in
            [
                [
                    "memory", "healthy", "\(cache.memoryEntries)", ByteText.text(cache.memoryBytes),
                    "-", limit(cache.memoryBytesMax), "-", "-", "-",
                ],
                disk(cache),
            ]
        }
        let header = [
            "STORE", "STATE", "ENTRIES", "BYTES", "BESIDE", "LIMIT", "LOST", "SET ASIDE", "SKIPPED",
        ]
        let reasons = report.caches.filter { !$0.diskReason.isEmpty }
            .map { "disk cache: \($0.diskReason)\(since($0))\n" }
        let indexes = report.caches.map(index)
        return TextTable.text(header, rows) + (reasons + indexes).joined() + named(report)
            + directories(report)
    }

    /// What became of an index that was not as this version makes it.
    private static func index(_ cache: CacheStatus) -> String {
        if cache.indexUpgradedFrom > 0 {
            return "disk cache: its index was upgraded from version \(cache.indexUpgradedFrom)\n"
        }
        guard !cache.indexReason.isEmpty else { return "" }
        return "disk cache: its index was set aside and made anew: \(cache.indexReason)\n"
    }

    /// Named caches that have something, or limits of their own.
    private static func named(_ report: StatusReport) -> String {
        let caches = report.caches.flatMap(\.caches)
        guard !caches.isEmpty else { return "" }
        let rows = caches.map { cache in
            [
                cache.name, "\(cache.memory.entries)", ByteText.text(cache.memory.bytes),
                limit(cache.memory.bytesMax), "\(cache.disk.entries)",
                ByteText.text(cache.disk.bytes), limit(cache.disk.bytesMax),
            ]
        }
        let header = ["CACHE", "IN MEMORY", "BYTES", "LIMIT", "ON DISK", "BYTES", "LIMIT"]
        return "\n" + TextTable.text(header, rows)
    }

    /// Directories in which caches look for what they do not have themselves.
    private static func directories(_ report: StatusReport) -> String {
        let directories = report.caches.flatMap(\.readOnly)
        guard !directories.isEmpty else { return "" }
        let rows = directories.map { directory in
            [
                directory.path, directory.cacheName, directory.isUsable ? "healthy" : "degraded",
                "\(directory.hits)", "\(directory.damaged)",
            ]
        }
        let reasons = directories.filter { !$0.isUsable }.map { "\($0.path): \($0.reason)\n" }
        return "\n" + TextTable.text(["READ ONLY", "CACHE", "STATE", "HITS", "DAMAGED"], rows)
            + reasons.joined()
    }

    private static func limit(_ bytes: UInt64) -> String {
        bytes == 0 ? "-" : ByteText.text(bytes)
    }

    private static func disk(_ cache: CacheStatus) -> [String] {
        guard cache.disk != .none || cache.diskEntries > 0 else {
            return ["disk", cache.disk.name] + Array(repeating: "-", count: 7)
        }
        return [
            "disk", cache.disk.name, "\(cache.diskEntries)", ByteText.text(cache.diskBytes),
            ByteText.text(cache.diskOverheadBytes),
            limit(cache.diskBytesMax),
            "\(cache.entriesLost)", "\(cache.indexesSetAside)", "\(cache.storesSkipped)",
        ]
    }
}

extension StatusTable {
    /// How long ago the disk began to fail, by the calendar clock.
    private static func since(_ cache: CacheStatus) -> String {
        cache.degradedSince == 0 ? "" : ", since \(CalendarText.text(cache.degradedSince))"
    }
}

extension CacheStatus.DiskState {
    /// As the status says it.
    var name: String {
        switch self {
        case .none: "none"
        case .healthy: "healthy"
        case .degraded: "degraded"
        }
    }
}
