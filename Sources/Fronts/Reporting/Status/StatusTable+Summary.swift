package import Messages

// What one looks at first, and what `--watch` shows.
extension StatusTable {
    /// Processes, stages and caches; with an earlier look, rates since then.
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
            "\(report.count("liveRequests")) requests and \(report.count("liveJobs")) jobs live",
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

    /// The kind, and the pool where not every stack has it.
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
                    ($0.isForeign ? WorkerPool.Trust.foreign : .own).name, "\($0.workers)",
                    "\($0.jobs)", "\($0.credit)", "\($0.queued)",
                    ByteText.text($0.outputBytes),
                ]
            }) + report.missingWorkers.map { "\($0)\n" }.joined()
    }

    /// The last row is of requests, from admission to reply.
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

    /// Three digits at most and the unit that fits.
    static func time(_ microseconds: Double) -> String {
        switch microseconds {
        case ..<999.5: "\(Int(microseconds.rounded())) us"
        case ..<99_950: "\(TextTable.tenths(microseconds / 1_000)) ms"
        case ..<999_500: "\(Int((microseconds / 1_000).rounded())) ms"
        default: "\(TextTable.tenths(microseconds / 1e6)) s"
        }
    }
}
