package import Model

/// The status in human-readable form.
package enum StatusTable {
    package static func text(_ report: StatusReport) -> String {
        var text = summary(report, since: nil)
        text += "\n"
        text += TextTable.text(
            ["SOCKET", "IN", "OUT", "BYTES IN", "BYTES OUT", "LARGEST"],
            report.sockets.map {
                [
                    $0.name, "\($0.messagesReceived)", "\($0.messagesSent)",
                    ByteText.text($0.bytesReceived), ByteText.text($0.bytesSent),
                    ByteText.text($0.largestMessage),
                ]
            })
        if !report.cancellations.isEmpty { text += "\n" + cancellations(report) }
        if !report.transfers.isEmpty { text += "\n" + transfers(report) }
        guard !report.counters.isEmpty else { return text }
        return text + "\n"
            + TextTable.text(
                ["COUNTER", "VALUE"], report.counters.map { [$0.name, "\($0.value)"] })
    }

    /// Returns the sandbox layers of a process, as determined by the process itself.
    static func sandbox(_ layers: SandboxLayers) -> String {
        layers.isEmpty ? "-" : layers.names.joined(separator: ",")
    }

    /// Formats the time from `CancelJob` until the worker is free.
    private static func cancellations(_ report: StatusReport) -> String {
        let answer = StatusAnswer(report)
        return TextTable.text(
            ["CANCELS", "COUNT", "HARD", "P50 MS", "P99 MS"],
            answer.cancellations.map {
                [
                    $0.stage, "\($0.cancels)", "\($0.hard)", TextTable.tenths($0.p50),
                    TextTable.tenths($0.p99),
                ]
            })
    }

    /// Formats the transfer durations by phase, if there were any transfers.
    private static func transfers(_ report: StatusReport) -> String {
        func tenths(_ histogram: LatencyHistogram, _ share: Double) -> String {
            TextTable.tenths((histogram.microseconds(at: share) ?? 0) / 1_000)
        }
        return TextTable.text(
            ["TRANSFERS", "COUNT", "P50 MS", "P99 MS"],
            report.transfers.map {
                [
                    $0.phase, "\($0.durations.count)", tenths($0.durations, 0.5),
                    tenths($0.durations, 0.99),
                ]
            })
    }

    package static func duration(_ milliseconds: UInt64) -> String {
        let seconds = milliseconds / 1000
        switch seconds {
        case ..<60: return "\(seconds) s"
        case ..<3600: return "\(seconds / 60) min \(seconds % 60) s"
        case ..<86_400: return "\(seconds / 3600) h \(seconds / 60 % 60) min"
        default: return "\(seconds / 86_400) d \(seconds / 3600 % 24) h"
        }
    }
}

// The summary, which `--watch` also shows.
extension StatusTable {
    /// Formats processes, stages and caches; with an earlier report, also rates since then.
    package static func summary(_ report: StatusReport, since earlier: StatusReport?) -> String {
        headline(report, since: earlier) + "\n" + processes(report) + "\n"
            + (report.pools.isEmpty ? "" : pools(report) + "\n")
            + stages(report) + "\n" + caches(report, since: earlier)
            + (stores(report).isEmpty ? "" : "\n" + stores(report))
    }

    private static func headline(_ report: StatusReport, since earlier: StatusReport?) -> String {
        var parts = [
            "up \(duration(report.uptimeMilliseconds))",
            "\(report.count("clients")) clients",
            "\(report.count("liveRequests")) requests and \(report.count("liveJobs")) jobs active",
        ]
        if let earlier, earlier.uptimeMilliseconds < report.uptimeMilliseconds {
            let seconds = Double(report.uptimeMilliseconds - earlier.uptimeMilliseconds) / 1_000
            let requests = Double(report.growth(of: "requests", since: earlier))
            let failed = Double(report.growth(of: "failed", since: earlier))
            parts.append("\(TextTable.tenths(requests / seconds)) requests/s")
            parts.append("\(TextTable.tenths(failed / seconds)) errors/s")
        }
        let quarantined = report.count("quarantined")
        if quarantined > 0 { parts.append("\(quarantined) quarantined") }
        if report.count("downloadsSuspended") > 0 { parts.append("downloads suspended") }
        let hosts = report.unverifiedHosts
        return parts.joined(separator: ", ") + "\n"
            + (hosts.isEmpty ? "" : "TLS not verified: \(hosts.joined(separator: ", "))\n")
    }

    private static func processes(_ report: StatusReport) -> String {
        TextTable.text(
            ["KIND", "PID", "STATE", "RESTARTS", "JOBS", "CREDIT", "SANDBOX"],
            report.processes.map {
                [
                    name($0), "\($0.pid)", $0.state, "\($0.restarts)", "\($0.jobs)",
                    $0.kind == .coordinator ? "-" : "\($0.credit)", sandbox($0.sandbox),
                ]
            } + report.fronts.map { front($0) })
    }

    private static func front(_ front: StatusReport.FrontStatus) -> [String] {
        let process = front.process
        return [
            process.name, "\(front.pid)", "ready", "\(process.restarts)", "-", "-",
            sandbox(process.sandbox),
        ]
    }

    /// Returns the kind of a process, with the pool if it isn't a standard one.
    private static func name(_ process: StatusReport.ProcessStatus) -> String {
        process.pool == PoolName(process.kind)
            ? process.kind.name : "\(process.kind.name)/\(process.pool)"
    }

    private static func pools(_ report: StatusReport) -> String {
        TextTable.text(
            ["POOL", "KIND", "TRUST", "WORKERS", "JOBS", "CREDIT", "QUEUED", "OUTPUT"],
            report.pools.map {
                [
                    $0.name.text, $0.kind.name,
                    ($0.isExternal ? WorkerPool.Trust.external : .own).name, "\($0.workers)",
                    "\($0.jobs)", "\($0.credit)", "\($0.queued)",
                    ByteText.text($0.outputBytes),
                ]
            }) + report.missingWorkers.map { "\($0)\n" }.joined()
    }

    /// Formats the stages. The last row covers entire requests, from admission to reply.
    private static func stages(_ report: StatusReport) -> String {
        var rows = report.stages.map { stage in
            [
                stage.stage, "\(stage.queued)", "\(stage.running)", "\(stage.works.count)",
                time(stage.waits, 0.5), time(stage.waits, 0.99), time(stage.works, 0.5),
                time(stage.works, 0.99),
            ]
        }
        rows.append([
            "request", "-", "\(report.count("liveRequests"))", "\(report.requests.count)", "-",
            "-", time(report.requests, 0.5), time(report.requests, 0.99),
        ])
        return TextTable.text(
            ["STAGE", "QUEUED", "RUNNING", "DONE", "WAIT P50", "P99", "WORK P50", "P99"], rows)
    }

    static func caches(_ report: StatusReport, since earlier: StatusReport?) -> String {
        let (all, recent) = (TierShares(report), TierShares(report, since: earlier))
        let rows = zip(all.rows, recent.rows).map { entry, fresh in
            [entry.tier, "\(entry.requests)", percent(all.share(entry.requests))]
                + (earlier == nil ? [] : [percent(recent.share(fresh.requests))])
        }
        return TextTable.text(
            ["CACHE", "REQUESTS", "SHARE"] + (earlier == nil ? [] : ["NOW"]), rows)
    }

    private static func percent(_ share: Double) -> String { TextTable.tenths(share * 100) + " %" }

    private static func time(_ histogram: LatencyHistogram, _ share: Double) -> String {
        histogram.microseconds(at: share).map(time) ?? "-"
    }

    /// Formats a duration with up to three digits and a suitable unit.
    static func time(_ microseconds: Double) -> String {
        switch microseconds {
        case ..<999.5: "\(Int(microseconds.rounded())) us"
        case ..<99_950: "\(TextTable.tenths(microseconds / 1_000)) ms"
        case ..<999_500: "\(Int((microseconds / 1_000).rounded())) ms"
        default: "\(TextTable.tenths(microseconds / 1e6)) s"
        }
    }
}

// The contents and disks of the cache processes.
extension StatusTable {
    static func stores(_ report: StatusReport) -> String {
        guard !report.caches.isEmpty else {
            let isExpected = report.processes.contains { $0.kind == .cache }
            return isExpected ? "no cache report yet\n" : ""
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
            "STORE", "STATE", "ENTRIES", "BYTES", "OVERHEAD", "LIMIT", "LOST", "QUARANTINED",
            "SKIPPED",
        ]
        let reasons = report.caches.filter { !$0.diskReason.isEmpty }
            .map { "disk cache: \($0.diskReason)\(since($0))\n" }
        let indexes = report.caches.map(index)
        return TextTable.text(header, rows) + (reasons + indexes).joined() + named(report)
            + directories(report)
    }

    /// Reports an index that was upgraded or rebuilt.
    private static func index(_ cache: CacheStatus) -> String {
        if cache.indexUpgradedFrom > 0 {
            return "disk cache: index upgraded from version \(cache.indexUpgradedFrom)\n"
        }
        guard !cache.indexReason.isEmpty else { return "" }
        return "disk cache: index quarantined and rebuilt: \(cache.indexReason)\n"
    }

    /// Formats the named caches that have entries or limits of their own.
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

    /// Formats the read-only directories in which caches look up missing entries.
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
    /// Formats when the disk began to fail, by wall-clock time.
    private static func since(_ cache: CacheStatus) -> String {
        cache.degradedSince == 0 ? "" : ", since \(CalendarText.text(cache.degradedSince))"
    }
}

extension CacheStatus.DiskState {
    /// The name used in the status.
    var name: String {
        switch self {
        case .none: "none"
        case .healthy: "healthy"
        case .degraded: "degraded"
        }
    }
}

/// The output of `imagebus cache stats`: contents of the tiers, counters and the state of the disk.
package struct CacheMetrics: Encodable {
    /// Requests by the tier that answered them, since the coordinator started.
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

    /// Formats the same in human-readable form.
    package static func text(_ report: StatusReport) -> String {
        guard !report.caches.isEmpty else { return "no cache report yet\n" }
        return StatusTable.caches(report, since: nil) + "\n" + StatusTable.stores(report) + "\n"
            + report.caches.map(doings).joined()
    }

    private static func doings(_ cache: CacheStatus) -> String {
        let rows = [
            ["queries answered", "\(cache.memoryHits)", "\(cache.diskHits)"],
            ["bytes written", "-", ByteText.text(cache.diskBytesWritten)],
            ["trims", "\(cache.memoryShrinks)", "\(cache.diskTrims)"],
            ["entries evicted", "\(cache.memoryEvictions)", "\(cache.diskEntriesTrimmed)"],
            ["entries expired", "-", "\(cache.diskEntriesExpired)"],
            ["failures", "-", "\(cache.diskFailures)"],
        ]
        return TextTable.text(["SINCE THE CACHE STARTED", "MEMORY", "DISK"], rows)
    }
}
