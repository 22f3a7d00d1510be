package import Model
import ProcessRuntime

/// The status in human-readable form.
package enum StatusTable {
    /// Formats what fits on a screen of 24 lines, with `all` followed by everything else; with an
    /// earlier report, also rates since then.
    package static func text(
        _ report: StatusReport, since earlier: StatusReport? = nil, all: Bool = false
    ) -> String {
        let members = ProcessRow.all(report)
        var parts = [
            headline(report, since: earlier) + problems(report), kinds(members), stages(report),
            caches(report, since: earlier, contents: true),
        ]
        if all {
            parts += [
                processes(members), pools(report), stores(report), sockets(report),
                cancellations(report), transfers(report),
                table(["COUNTER", "VALUE"], report.counters.map { [$0.name, $0.value] }),
            ]
        }
        return parts.filter { !$0.isEmpty }.joined(separator: "\n")
    }

    /// Formats a table; empty without rows.
    private static func table(_ header: [String], _ rows: [[TextTable.Cell]]) -> String {
        rows.isEmpty ? "" : TextTable.text(header, rows)
    }

    private static func sockets(_ report: StatusReport) -> String {
        table(
            ["SOCKET", "IN", "OUT", "BYTES IN", "BYTES OUT", "LARGEST"],
            report.sockets.map {
                [
                    $0.name, $0.messagesReceived, $0.messagesSent, ByteText.text($0.bytesReceived),
                    ByteText.text($0.bytesSent), ByteText.text($0.largestMessage),
                ]
            })
    }

    /// Formats the time from `CancelJob` until the worker is free.
    private static func cancellations(_ report: StatusReport) -> String {
        table(
            ["CANCELS", "COUNT", "HARD", "P50 MS", "P99 MS"],
            report.cancellations.map {
                [
                    $0.stage, $0.durations.count, $0.hard, tenths($0.durations, 0.5),
                    tenths($0.durations, 0.99),
                ]
            })
    }

    /// Formats the transfer durations by phase.
    private static func transfers(_ report: StatusReport) -> String {
        table(
            ["TRANSFERS", "COUNT", "P50 MS", "P99 MS"],
            report.transfers.map {
                [
                    $0.phase, $0.durations.count, tenths($0.durations, 0.5),
                    tenths($0.durations, 0.99),
                ]
            })
    }

    private static func tenths(_ histogram: LatencyHistogram, _ share: Double) -> String {
        TextTable.tenths((histogram.microseconds(at: share) ?? 0) / 1_000)
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

// The parts of the screen.
extension StatusTable {
    private static func headline(_ report: StatusReport, since earlier: StatusReport?) -> String {
        var further: [String] = []
        if let earlier, earlier.uptimeMilliseconds < report.uptimeMilliseconds {
            let seconds = Double(report.uptimeMilliseconds - earlier.uptimeMilliseconds) / 1_000
            for (counter, unit) in [("requests", "requests/s"), ("failed", "errors/s")] {
                let growth = Double(report.growth(of: counter, since: earlier))
                further.append("\(TextTable.tenths(growth / seconds)) \(unit)")
            }
        }
        let quarantined = report.count("quarantined")
        if quarantined > 0 { further.append("\(quarantined) quarantined") }
        if report.count("downloadsSuspended") > 0 { further.append("downloads suspended") }
        return "up \(duration(report.uptimeMilliseconds)), \(report.count("clients")) clients, "
            + "\(report.count("liveRequests")) requests and \(report.count("liveJobs")) jobs active\n"
            + (further.isEmpty ? "" : further.joined(separator: ", ") + "\n")
    }

    /// Returns a line for each thing that doesn't work, or not as usual.
    static func problems(_ report: StatusReport) -> String {
        let hosts = report.unverifiedHosts.joined(separator: ", ")
        let lines =
            (hosts.isEmpty ? [] : ["TLS not verified: \(hosts)"])
            + report.missingWorkers.map { "\($0)" } + report.caches.flatMap(cacheProblems)
        return lines.map { PlainText.line($0) + "\n" }.joined()
    }

    private static func cacheProblems(_ cache: CacheStatus) -> [String] {
        let since =
            cache.degradedSince == 0 ? "" : ", since \(CalendarText.text(cache.degradedSince))"
        let index =
            if cache.indexUpgradedFrom > 0 {
                "index upgraded from version \(cache.indexUpgradedFrom)"
            } else {
                cache.indexReason.isEmpty
                    ? "" : "index quarantined and rebuilt: \(cache.indexReason)"
            }
        let disk = [cache.diskReason.isEmpty ? "" : cache.diskReason + since, index]
        return disk.filter { !$0.isEmpty }.map { "disk cache: \($0)" }
            + cache.readOnly.filter { !$0.isUsable }.map { "\($0.path): \($0.reason)" }
    }

    /// Formats the processes of each kind and pool in one row.
    private static func kinds(_ members: [ProcessRow]) -> String {
        var names: [String] = []
        for name in members.map(\.name) where !names.contains(name) { names.append(name) }
        let rows = names.map { name in
            let group = members.filter { $0.name == name }
            let states = Dictionary(grouping: group, by: \.state).sorted { $0.key < $1.key }
            let counts = states.map { "\($0.value.count) \($0.key)" }
            return [name, counts.joined(separator: ", ")]
                + (group[0].isWorker
                    ? ["\(sum(group, \.jobs))", "\(sum(group, \.credit))"] : ["-", "-"])
                + ["\(sum(group, \.restarts))"]
        }
        return table(["KIND", "PROCESSES", "JOBS", "CREDIT", "RESTARTS"], rows)
    }

    private static func sum(
        _ group: [ProcessRow], _ value: KeyPath<ProcessRow, UInt32>
    ) -> UInt64 {
        group.reduce(0) { $0 + UInt64($1[keyPath: value]) }
    }

    /// Formats the stages. The last row covers entire requests, from admission to reply.
    private static func stages(_ report: StatusReport) -> String {
        var rows: [[TextTable.Cell]] = report.stages.map { stage in
            [
                stage.stage, stage.queued, stage.running, stage.works.count,
                time(stage.waits, 0.5), time(stage.waits, 0.99), time(stage.works, 0.5),
                time(stage.works, 0.99),
            ]
        }
        rows.append([
            "request", "-", report.count("liveRequests"), report.requests.count, "-", "-",
            time(report.requests, 0.5), time(report.requests, 0.99),
        ])
        return TextTable.text(
            ["STAGE", "QUEUED", "RUNNING", "DONE", "WAIT P50", "P99", "WORK P50", "P99"], rows)
    }

    /// Formats the requests by the tier that answered them, and with `contents` what the tiers of
    /// the cache process hold.
    static func caches(
        _ report: StatusReport, since earlier: StatusReport?, contents: Bool = false
    ) -> String {
        let (all, recent) = (TierShares(report), TierShares(report, since: earlier))
        let rows = zip(all.rows, recent.rows).map { entry, fresh in
            [entry.tier, "\(entry.requests)", percent(all.share(entry.requests))]
                + (earlier == nil ? [] : [percent(recent.share(fresh.requests))])
                + (contents ? Self.contents(report.caches.first, of: entry.tier) : [])
        }
        return TextTable.text(
            ["CACHE", "REQUESTS", "SHARE"] + (earlier == nil ? [] : ["NOW"])
                + (contents ? ["ENTRIES", "BYTES", "LIMIT", "STATE"] : []), rows)
    }

    private static func contents(_ cache: CacheStatus?, of tier: String) -> [String] {
        let columns = cache.map { Self.columns($0) } ?? []
        return ["ENTRIES", "BYTES", "LIMIT", "STATE"].map { name in
            guard let column = columns.first(where: { $0.name == name }) else { return "-" }
            return tier == "memory" ? column.memory : tier == "disk" ? column.disk : "-"
        }
    }

    /// What the tiers of a cache process hold.
    private static func columns(
        _ cache: CacheStatus
    ) -> [(name: String, memory: String, disk: String)] {
        let hasDisk = cache.disk != .none || cache.diskEntries > 0
        func disk(_ text: String) -> String { hasDisk ? text : "-" }
        return [
            ("STATE", "healthy", cache.disk.name),
            ("ENTRIES", "\(cache.memoryEntries)", disk("\(cache.diskEntries)")),
            ("BYTES", ByteText.text(cache.memoryBytes), disk(ByteText.text(cache.diskBytes))),
            ("OVERHEAD", "-", disk(ByteText.text(cache.diskOverheadBytes))),
            ("LIMIT", limit(cache.memoryBytesMax), disk(limit(cache.diskBytesMax))),
            ("LOST", "-", disk("\(cache.entriesLost)")),
            ("QUARANTINED", "-", disk("\(cache.indexesSetAside)")),
            ("SKIPPED", "-", disk("\(cache.storesSkipped)")),
        ]
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

// What `--all` adds.
extension StatusTable {
    private static func processes(_ members: [ProcessRow]) -> String {
        table(
            ["KIND", "PID", "STATE", "RESTARTS", "JOBS", "CREDIT", "SANDBOX"],
            members.map {
                [
                    $0.name, $0.pid, $0.state, $0.restarts, $0.isWorker ? "\($0.jobs)" : "-",
                    $0.isWorker ? "\($0.credit)" : "-",
                    $0.sandbox.isEmpty ? "-" : $0.sandbox.joined(separator: ","),
                ]
            })
    }

    private static func pools(_ report: StatusReport) -> String {
        table(
            ["POOL", "KIND", "TRUST", "WORKERS", "JOBS", "CREDIT", "QUEUED", "OUTPUT"],
            report.pools.map {
                [
                    $0.name.text, $0.kind.name,
                    ($0.isExternal ? WorkerPool.Trust.external : .own).name, $0.workers, $0.jobs,
                    $0.credit, $0.queued, ByteText.text($0.outputBytes),
                ]
            })
    }

    /// Formats the contents and disks of the cache processes.
    static func stores(_ report: StatusReport) -> String {
        guard !report.caches.isEmpty else {
            let isExpected = report.processes.contains { $0.kind == .cache }
            return isExpected ? "no cache report yet\n" : ""
        }
        let caches = report.caches.map(columns)
        let rows = caches.flatMap { columns in
            [["memory"] + columns.map { $0.memory }, ["disk"] + columns.map { $0.disk }]
        }
        let header = ["STORE"] + caches[0].map { $0.name }
        return [TextTable.text(header, rows), named(report), directories(report)]
            .filter { !$0.isEmpty }.joined(separator: "\n")
    }

    /// Formats the named caches that have entries or limits of their own.
    private static func named(_ report: StatusReport) -> String {
        table(
            ["CACHE", "IN MEMORY", "BYTES", "LIMIT", "ON DISK", "BYTES", "LIMIT"],
            report.caches.flatMap(\.caches).map { cache in
                [
                    cache.name, cache.memory.entries, ByteText.text(cache.memory.bytes),
                    limit(cache.memory.bytesMax), cache.disk.entries,
                    ByteText.text(cache.disk.bytes), limit(cache.disk.bytesMax),
                ]
            })
    }

    /// Formats the read-only directories in which caches look up missing entries.
    private static func directories(_ report: StatusReport) -> String {
        table(
            ["READ ONLY", "CACHE", "STATE", "HITS", "DAMAGED"],
            report.caches.flatMap(\.readOnly).map { directory in
                [
                    directory.path, directory.cacheName,
                    directory.isUsable ? "healthy" : "degraded", directory.hits, directory.damaged,
                ]
            })
    }

    private static func limit(_ bytes: UInt64) -> String {
        bytes == 0 ? "-" : ByteText.text(bytes)
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
package enum CacheMetrics {
    /// Requests by the tier that answered them, since the coordinator started, and the caches.
    package static func object(_ report: StatusReport) -> JSONObject {
        let requests: JSONObject = [
            "memory": report.count("memoryHits"), "disk": report.count("diskHits"),
            "original": report.count("originalUses"), "missed": report.count("misses"),
        ]
        return ["requests": requests, "caches": report.caches.map(StoreAnswer.object)]
    }

    /// Formats the same in human-readable form.
    package static func text(_ report: StatusReport) -> String {
        guard !report.caches.isEmpty else { return "no cache report yet\n" }
        return StatusTable.caches(report, since: nil) + "\n" + StatusTable.problems(report)
            + StatusTable.stores(report) + "\n" + report.caches.map(doings).joined()
    }

    private static func doings(_ cache: CacheStatus) -> String {
        let rows: [[TextTable.Cell]] = [
            ["queries answered", cache.memoryHits, cache.diskHits],
            ["bytes written", "-", ByteText.text(cache.diskBytesWritten)],
            ["trims", cache.memoryShrinks, cache.diskTrims],
            ["entries evicted", cache.memoryEvictions, cache.diskEntriesTrimmed],
            ["entries expired", "-", cache.diskEntriesExpired],
            ["failures", "-", cache.diskFailures],
        ]
        return TextTable.text(["SINCE THE CACHE STARTED", "MEMORY", "DISK"], rows)
    }
}
