package import Model

/// The status as a JSON object (SEMANTICS §15.4). Durations are in milliseconds.
package enum StatusAnswer {
    package static func object(_ report: StatusReport) -> JSONObject {
        let counters = Dictionary(report.counters.map { ($0.name, $0.value) }) { first, _ in first }
        let transfers = Dictionary(
            report.transfers.map { ($0.phase, durations($0.durations)) }
        ) { first, _ in first }
        return [
            "processes": ProcessRow.all(report), "pools": report.pools.map(pool),
            "sockets": report.sockets.map(socket), "counters": counters,
            "stages": report.stages.map(stage), "requests": durations(report.requests),
            "transfers": transfers, "caches": tiers(report),
            "cacheStores": report.caches.map(StoreAnswer.object),
            "unverifiedHosts": report.unverifiedHosts,
            "uptimeMilliseconds": report.uptimeMilliseconds,
            "cancellations": report.cancellations.map(cancellations),
        ]
    }

    private static func pool(_ pool: StatusReport.PoolStatus) -> JSONObject {
        let trust: WorkerPool.Trust = pool.isExternal ? .external : .own
        return [
            "name": pool.name.text, "kind": pool.kind.name, "trust": trust.nameInJSON,
            "workers": pool.workers, "jobs": pool.jobs, "credit": pool.credit,
            "queued": pool.queued, "outputBytes": pool.outputBytes,
        ]
    }

    private static func socket(_ socket: StatusReport.SocketStatus) -> JSONObject {
        [
            "name": socket.name, "messagesReceived": socket.messagesReceived,
            "messagesSent": socket.messagesSent, "bytesReceived": socket.bytesReceived,
            "bytesSent": socket.bytesSent, "largestMessage": socket.largestMessage,
        ]
    }

    private static func stage(_ stage: StatusReport.StageStatus) -> JSONObject {
        [
            "stage": stage.stage, "queued": stage.queued, "queuedCost": stage.queuedCost,
            "running": stage.running, "waits": durations(stage.waits),
            "works": durations(stage.works),
        ]
    }

    /// The percentiles are null if nothing was counted.
    private static func durations(_ histogram: LatencyHistogram) -> JSONObject {
        func milliseconds(_ share: Double) -> Double? {
            histogram.microseconds(at: share).map { $0.rounded() / 1_000 }
        }
        let sum = Double(histogram.sum) / 1_000
        return [
            "count": histogram.count, "sum_ms": sum, "p50_ms": milliseconds(0.5),
            "p90_ms": milliseconds(0.9), "p99_ms": milliseconds(0.99),
        ]
    }

    /// The time from `CancelJob` until the worker is free.
    private static func cancellations(_ stage: StatusReport.Cancellations) -> JSONObject {
        func milliseconds(_ share: Double) -> Double {
            (stage.durations.microseconds(at: share) ?? 0) / 1_000
        }
        return [
            "stage": stage.stage, "cancels": stage.durations.count, "hard": stage.hard,
            "p50_ms": milliseconds(0.5), "p99_ms": milliseconds(0.99),
        ]
    }

    private static func tiers(_ report: StatusReport) -> [JSONObject] {
        let shares = TierShares(report)
        return shares.rows.map { tier, requests in
            let share = (shares.share(requests) * 1e4).rounded() / 1e4
            return ["tier": tier, "requests": requests, "share": share]
        }
    }
}

/// A process of the stack, in JSON and in tables.
struct ProcessRow: Encodable {
    let kind: String
    let pid: UInt32
    let state: String
    let restarts: UInt32
    let jobs: UInt32
    /// The number of jobs it accepts at a time.
    let credit: UInt32
    /// The names of the active sandbox layers.
    let sandbox: [String]
    /// The pool: the same as the kind unless the pool was added by the configuration.
    let pool: String

    private init(_ process: StatusReport.ProcessStatus) {
        (kind, pid, state) = (process.kind.name, process.pid, process.state)
        (restarts, jobs, credit) = (process.restarts, process.jobs, process.credit)
        (sandbox, pool) = (process.sandbox.names, process.pool.text)
    }

    /// Creates the row of a front, which has no pool and no jobs.
    private init(_ front: StatusReport.FrontStatus) {
        (kind, pid, state) = (front.process.name, front.pid, "ready")
        (restarts, jobs, credit) = (front.process.restarts, 0, 0)
        (sandbox, pool) = (front.process.sandbox.names, front.process.name)
    }

    static func all(_ report: StatusReport) -> [ProcessRow] {
        report.processes.map { ProcessRow($0) } + report.fronts.map { ProcessRow($0) }
    }

    /// The kind, with the pool if it isn't the standard one.
    var name: String { pool == kind ? kind : "\(kind)/\(pool)" }

    /// Whether it receives jobs.
    var isWorker: Bool { WorkerKind(name: kind).map { $0 != .coordinator } ?? false }
}

/// The contents of a cache process, in the same object. Limits are null if there are none, and hits
/// are queries of the coordinator that were answered, which answers most hits in memory by itself.
enum StoreAnswer {
    static func object(_ cache: CacheStatus) -> JSONObject {
        let named = Dictionary(cache.caches.map { ($0.name, Self.named($0)) }) { $1 }
        return [
            "memory": memory(cache), "disk": disk(cache), "named": named,
            "readOnly": cache.readOnly.map(directory),
        ]
    }

    private static func memory(_ cache: CacheStatus) -> JSONObject {
        [
            "entries": cache.memoryEntries, "bytes": cache.memoryBytes,
            "limitBytes": cache.memoryBytesMax, "limitEntries": positive(cache.memoryEntriesMax),
            "hits": cache.memoryHits, "evictions": cache.memoryEvictions,
            // Evictions due to memory pressure.
            "shrinks": cache.memoryShrinks,
        ]
    }

    private static func disk(_ cache: CacheStatus) -> JSONObject {
        [
            "state": cache.disk.name,
            // Why and since when (in milliseconds since 1970) it is degraded.
            "reason": text(cache.diskReason), "degradedSince": positive(cache.degradedSince),
            "entries": cache.diskEntries, "bytes": cache.diskBytes,
            "overheadBytes": cache.diskOverheadBytes, "limitBytes": positive(cache.diskBytesMax),
            "limitEntries": positive(cache.diskEntriesMax), "hits": cache.diskHits,
            "misses": cache.misses, "bytesWritten": cache.diskBytesWritten,
            "trims": cache.diskTrims, "entriesTrimmed": cache.diskEntriesTrimmed,
            "entriesExpired": cache.diskEntriesExpired, "failures": cache.diskFailures,
            "entriesLost": cache.entriesLost, "indexesSetAside": cache.indexesSetAside,
            // Why the index was last rebuilt, or the version from which it was upgraded.
            "indexReason": text(cache.indexReason),
            "indexUpgradedFrom": positive(cache.indexUpgradedFrom),
            "storesSkipped": cache.storesSkipped,
        ]
    }

    private static func named(_ cache: NamedCacheStatus) -> JSONObject {
        func tier(_ usage: NamedCacheStatus.Usage, _ hits: UInt64) -> JSONObject {
            [
                "entries": usage.entries, "bytes": usage.bytes,
                "limitBytes": positive(usage.bytesMax), "limitEntries": positive(usage.entriesMax),
                "hits": hits,
            ]
        }
        return [
            "memory": tier(cache.memory, cache.memoryHits),
            "disk": tier(cache.disk, cache.diskHits), "misses": cache.misses,
            "memoryEvictions": cache.memoryEvictions,
        ]
    }

    private static func directory(_ directory: ReadOnlyDirectory) -> JSONObject {
        [
            "cache": directory.cacheName, "path": directory.path,
            // Why it can't be used.
            "reason": text(directory.reason), "hits": directory.hits,
            "damaged": directory.damaged,
        ]
    }

    private static func positive(_ number: UInt64) -> UInt64? { number == 0 ? nil : number }

    private static func text(_ text: String) -> String? { text.isEmpty ? nil : text }
}

/// The number of requests answered by each cache tier.
struct TierShares {
    let rows: [(tier: String, requests: UInt64)]

    /// Counts since the coordinator started, or since an earlier report.
    init(_ report: StatusReport, since earlier: StatusReport? = nil) {
        rows = Self.counters.map { ($0.tier, report.growth(of: $0.counter, since: earlier)) }
    }

    /// The tiers with the counters of their requests.
    static let counters: [(tier: String, counter: String)] = [
        ("memory", "memoryHits"), ("disk", "diskHits"), ("original", "originalUses"),
        ("miss", "misses"),
    ]

    /// Returns the share of all these requests; 0 if there are none.
    func share(_ requests: UInt64) -> Double {
        let all = rows.reduce(0) { $0 + $1.requests }
        return all == 0 ? 0 : Double(requests) / Double(all)
    }
}

extension StatusReport {
    /// Returns a counter; 0 if it doesn't exist.
    package func count(_ counter: String) -> UInt64 {
        counters.first { $0.name == counter }?.value ?? 0
    }

    /// Returns the increase of a counter since an earlier report, or its full value if the
    /// coordinator was restarted since.
    package func growth(of counter: String, since earlier: StatusReport?) -> UInt64 {
        let now = count(counter)
        guard let earlier, earlier.uptimeMilliseconds <= uptimeMilliseconds else { return now }
        let before = earlier.count(counter)
        return now >= before ? now - before : now
    }
}
