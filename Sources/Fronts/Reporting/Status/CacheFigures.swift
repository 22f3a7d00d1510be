package import Messages

/// What `imagebus cache stats` says: what the tiers keep, what they did, and how the disk is.
package struct CacheFigures: Encodable {
    /// Requests by what answered them, since the coordinator started.
    struct Requests: Encodable {
        let memory: UInt64
        let disk: UInt64
        let original: UInt64
        let missed: UInt64
    }

    let requests: Requests
    let caches: [StoreAnswer]

    package init(_ report: StatusReport) {
        requests = Requests(
            memory: report.count("memoryHits"), disk: report.count("diskHits"),
            original: report.count("originalUses"), missed: report.count("misses"))
        caches = report.caches.map { StoreAnswer($0) }
    }

    /// The same for people.
    package static func text(_ report: StatusReport) -> String {
        guard !report.caches.isEmpty else { return "what the cache keeps is not known yet\n" }
        return StatusTable.caches(report, since: nil) + "\n" + StatusTable.stores(report) + "\n"
            + report.caches.map(doings).joined()
    }

    private static func doings(_ cache: CacheStatus) -> String {
        let rows = [
            ["queries answered", "\(cache.memoryHits)", "\(cache.diskHits)"],
            ["bytes written", "-", ByteText.text(cache.diskBytesWritten)],
            ["trims", "\(cache.memoryShrinks)", "\(cache.diskTrims)"],
            ["entries that made room", "\(cache.memoryEvictions)", "\(cache.diskEntriesTrimmed)"],
            ["entries over age", "-", "\(cache.diskEntriesExpired)"],
            ["failures", "-", "\(cache.diskFailures)"],
        ]
        return TextTable.text(["SINCE THE CACHE STARTED", "MEMORY", "DISK"], rows)
    }
}
