package import Model

/// The status as a JSON object (SEMANTICS §15.4).
package struct StatusAnswer: Encodable {
    struct Process: Encodable {
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

        init(_ process: StatusReport.ProcessStatus) {
            (kind, pid, state) = (process.kind.name, process.pid, process.state)
            (restarts, jobs, credit) = (process.restarts, process.jobs, process.credit)
            (sandbox, pool) = (process.sandbox.names, process.pool.text)
        }

        /// Creates the entry of a front, which has no pool and no jobs.
        init(_ front: StatusReport.FrontStatus) {
            (kind, pid, state) = (front.process.name, front.pid, "ready")
            (restarts, jobs, credit) = (front.process.restarts, 0, 0)
            (sandbox, pool) = (front.process.sandbox.names, front.process.name)
        }

        /// The kind, with the pool if it isn't the standard one.
        var name: String { pool == kind ? kind : "\(kind)/\(pool)" }

        /// Whether it receives jobs.
        var isWorker: Bool { WorkerKind(name: kind).map { $0 != .coordinator } ?? false }
    }

    struct Pool: Encodable {
        let name: String
        let kind: String
        let trust: String
        let workers: UInt32
        let jobs: UInt32
        /// The number of jobs that its workers accept at a time.
        let credit: UInt32
        let queued: UInt64
        let outputBytes: UInt64
    }

    struct Socket: Encodable {
        let name: String
        let messagesReceived: UInt64
        let messagesSent: UInt64
        let bytesReceived: UInt64
        let bytesSent: UInt64
        let largestMessage: UInt64
    }

    /// The time from `CancelJob` until the worker is free, in milliseconds.
    struct Cancellations: Encodable {
        let stage: String
        let cancels: UInt64
        let hard: UInt64
        let p50: Double
        let p99: Double

        enum CodingKeys: String, CodingKey {
            case stage, cancels, hard
            case p50 = "p50_ms"
            case p99 = "p99_ms"
        }
    }

    /// Durations in milliseconds; null if nothing was counted.
    struct Durations: Encodable {
        let count: UInt64
        let sum: Double
        let p50: Double?
        let p90: Double?
        let p99: Double?

        enum CodingKeys: String, CodingKey {
            case count
            case sum = "sum_ms"
            case p50 = "p50_ms"
            case p90 = "p90_ms"
            case p99 = "p99_ms"
        }

        init(_ histogram: LatencyHistogram) {
            func milliseconds(_ share: Double) -> Double? {
                histogram.microseconds(at: share).map { $0.rounded() / 1_000 }
            }
            count = histogram.count
            sum = Double(histogram.sum) / 1_000
            p50 = milliseconds(0.5)
            p90 = milliseconds(0.9)
            p99 = milliseconds(0.99)
        }

        func encode(to encoder: any Encoder) throws {
            var values = encoder.container(keyedBy: CodingKeys.self)
            try values.encode(count, forKey: .count)
            try values.encode(sum, forKey: .sum)
            try values.encode(p50, forKey: .p50)
            try values.encode(p90, forKey: .p90)
            try values.encode(p99, forKey: .p99)
        }
    }

    struct Stage: Encodable {
        let stage: String
        let queued: UInt64
        let queuedCost: UInt64
        let running: UInt64
        let waits: Durations
        let works: Durations
    }

    /// The number of requests answered by a cache tier, and their share of all requests that
    /// queried it.
    struct Tier: Encodable {
        let tier: String
        let requests: UInt64
        let share: Double
    }

    let processes: [Process]
    let sockets: [Socket]
    let counters: [String: UInt64]
    let uptimeMilliseconds: UInt64
    let cancellations: [Cancellations]
    let stages: [Stage]
    let requests: Durations
    let caches: [Tier]
    let cacheStores: [StoreAnswer]
    let pools: [Pool]
    /// Durations by transfer phase.
    let transfers: [String: Durations]
    let unverifiedHosts: [String]

    package init(_ report: StatusReport) {
        processes = report.processes.map { Process($0) } + report.fronts.map { Process($0) }
        pools = report.pools.map {
            Pool(
                name: $0.name.text, kind: $0.kind.name,
                trust: ($0.isExternal ? WorkerPool.Trust.external : .own).nameInJSON,
                workers: $0.workers, jobs: $0.jobs, credit: $0.credit, queued: $0.queued,
                outputBytes: $0.outputBytes)
        }
        sockets = report.sockets.map {
            Socket(
                name: $0.name, messagesReceived: $0.messagesReceived,
                messagesSent: $0.messagesSent, bytesReceived: $0.bytesReceived,
                bytesSent: $0.bytesSent, largestMessage: $0.largestMessage)
        }
        counters = Dictionary(
            report.counters.map { ($0.name, $0.value) }, uniquingKeysWith: { first, _ in first })
        stages = report.stages.map {
            Stage(
                stage: $0.stage, queued: $0.queued, queuedCost: $0.queuedCost,
                running: $0.running, waits: Durations($0.waits), works: Durations($0.works))
        }
        requests = Durations(report.requests)
        transfers = Dictionary(
            report.transfers.map { ($0.phase, Durations($0.durations)) },
            uniquingKeysWith: { first, _ in first })
        let shares = TierShares(report)
        caches = shares.rows.map {
            Tier(
                tier: $0.tier, requests: $0.requests,
                share: (shares.share($0.requests) * 1e4).rounded() / 1e4)
        }
        cacheStores = report.caches.map { StoreAnswer($0) }
        unverifiedHosts = report.unverifiedHosts
        uptimeMilliseconds = report.uptimeMilliseconds
        cancellations = report.cancellations.map {
            Cancellations(
                stage: $0.stage, cancels: $0.durations.count, hard: $0.hard,
                p50: ($0.durations.microseconds(at: 0.5) ?? 0) / 1_000,
                p99: ($0.durations.microseconds(at: 0.99) ?? 0) / 1_000)
        }
    }
}

/// The contents of a cache process, in the same object.
struct StoreAnswer: Encodable {
    struct Memory: Encodable {
        let entries: UInt64
        let bytes: UInt64
        let limitBytes: UInt64
        /// null if unlimited.
        let limitEntries: UInt64?
        /// Queries of the coordinator that were answered; the coordinator answers most hits by
        /// itself.
        let hits: UInt64
        let evictions: UInt64
        /// Evictions due to memory pressure.
        let shrinks: UInt64

        func encode(to encoder: any Encoder) throws {
            var values = encoder.container(keyedBy: CodingKeys.self)
            try values.encode(entries, forKey: .entries)
            try values.encode(bytes, forKey: .bytes)
            try values.encode(limitBytes, forKey: .limitBytes)
            try values.encode(limitEntries, forKey: .limitEntries)
            try values.encode(hits, forKey: .hits)
            try values.encode(evictions, forKey: .evictions)
            try values.encode(shrinks, forKey: .shrinks)
        }

        private enum CodingKeys: String, CodingKey {
            case entries, bytes, limitBytes, limitEntries, hits, evictions, shrinks
        }
    }

    struct Disk: Encodable {
        /// `none`, `healthy` or `degraded`.
        let state: String
        /// Why it is degraded; null if it isn't.
        let reason: String?
        /// Milliseconds since 1970; null if it isn't degraded.
        let degradedSince: UInt64?
        let entries: UInt64
        let bytes: UInt64
        let overheadBytes: UInt64
        /// null if unlimited.
        let limitBytes: UInt64?
        /// null if unlimited.
        let limitEntries: UInt64?
        let hits: UInt64
        let misses: UInt64
        let bytesWritten: UInt64
        let trims: UInt64
        let entriesTrimmed: UInt64
        let entriesExpired: UInt64
        let failures: UInt64
        let entriesLost: UInt64
        let indexesSetAside: UInt64
        /// Why the index was last rebuilt; null if it never was.
        let indexReason: String?
        /// The index version before an upgrade; null if it wasn't upgraded.
        let indexUpgradedFrom: UInt64?
        let storesSkipped: UInt64

        func encode(to encoder: any Encoder) throws {
            var values = encoder.container(keyedBy: CodingKeys.self)
            try values.encode(state, forKey: .state)
            try values.encode(reason, forKey: .reason)
            try values.encode(degradedSince, forKey: .degradedSince)
            try values.encode(entries, forKey: .entries)
            try values.encode(bytes, forKey: .bytes)
            try values.encode(overheadBytes, forKey: .overheadBytes)
            try values.encode(limitBytes, forKey: .limitBytes)
            try values.encode(limitEntries, forKey: .limitEntries)
            try values.encode(hits, forKey: .hits)
            try values.encode(misses, forKey: .misses)
            try values.encode(bytesWritten, forKey: .bytesWritten)
            try values.encode(trims, forKey: .trims)
            try values.encode(entriesTrimmed, forKey: .entriesTrimmed)
            try values.encode(entriesExpired, forKey: .entriesExpired)
            try values.encode(failures, forKey: .failures)
            try values.encode(entriesLost, forKey: .entriesLost)
            try values.encode(indexesSetAside, forKey: .indexesSetAside)
            try values.encode(indexReason, forKey: .indexReason)
            try values.encode(indexUpgradedFrom, forKey: .indexUpgradedFrom)
            try values.encode(storesSkipped, forKey: .storesSkipped)
        }

        private enum CodingKeys: String, CodingKey {
            case state, reason, degradedSince, entries, bytes, overheadBytes, limitBytes
            case limitEntries, hits, misses, bytesWritten, trims, entriesTrimmed, entriesExpired
            case failures, entriesLost, indexesSetAside, indexReason, indexUpgradedFrom
            case storesSkipped
        }
    }

    /// The contents and limits of a named cache in one tier.
    struct Share: Encodable {
        let entries: UInt64
        let bytes: UInt64
        /// null if it has no limit of its own.
        let limitBytes: UInt64?
        /// null if it has no limit of its own.
        let limitEntries: UInt64?
        /// Queries of the coordinator that were answered.
        let hits: UInt64

        init(_ usage: NamedCacheStatus.Usage, hits: UInt64) {
            self.hits = hits
            (entries, bytes) = (usage.entries, usage.bytes)
            limitBytes = usage.bytesMax == 0 ? nil : usage.bytesMax
            limitEntries = usage.entriesMax == 0 ? nil : usage.entriesMax
        }

        func encode(to encoder: any Encoder) throws {
            var values = encoder.container(keyedBy: CodingKeys.self)
            try values.encode(entries, forKey: .entries)
            try values.encode(bytes, forKey: .bytes)
            try values.encode(limitBytes, forKey: .limitBytes)
            try values.encode(limitEntries, forKey: .limitEntries)
            try values.encode(hits, forKey: .hits)
        }

        private enum CodingKeys: String, CodingKey {
            case entries, bytes, limitBytes, limitEntries, hits
        }
    }

    struct Named: Encodable {
        let memory: Share
        let disk: Share
        let misses: UInt64
        /// The number of entries evicted from memory.
        let memoryEvictions: UInt64

        init(_ cache: NamedCacheStatus) {
            memory = Share(cache.memory, hits: cache.memoryHits)
            disk = Share(cache.disk, hits: cache.diskHits)
            (misses, memoryEvictions) = (cache.misses, cache.memoryEvictions)
        }
    }

    /// A read-only directory in which a cache looks up missing entries.
    struct Directory: Encodable {
        let cache: String
        let path: String
        /// Why it can't be used; null if it can.
        let reason: String?
        let hits: UInt64
        let damaged: UInt64

        init(_ directory: ReadOnlyDirectory) {
            (cache, path) = (directory.cacheName, directory.path)
            reason = directory.isUsable ? nil : directory.reason
            (hits, damaged) = (directory.hits, directory.damaged)
        }

        func encode(to encoder: any Encoder) throws {
            var values = encoder.container(keyedBy: CodingKeys.self)
            try values.encode(cache, forKey: .cache)
            try values.encode(path, forKey: .path)
            try values.encode(reason, forKey: .reason)
            try values.encode(hits, forKey: .hits)
            try values.encode(damaged, forKey: .damaged)
        }

        private enum CodingKeys: String, CodingKey {
            case cache, path, reason, hits, damaged
        }
    }

    let memory: Memory
    let disk: Disk
    let named: [String: Named]
    let readOnly: [Directory]

    init(_ cache: CacheStatus) {
        named = Dictionary(cache.caches.map { ($0.name, Named($0)) }) { $1 }
        readOnly = cache.readOnly.map(Directory.init)
        memory = Memory(
            entries: cache.memoryEntries, bytes: cache.memoryBytes,
            limitBytes: cache.memoryBytesMax,
            limitEntries: cache.memoryEntriesMax == 0 ? nil : cache.memoryEntriesMax,
            hits: cache.memoryHits, evictions: cache.memoryEvictions, shrinks: cache.memoryShrinks)
        disk = Disk(
            state: cache.disk.name, reason: cache.diskReason.isEmpty ? nil : cache.diskReason,
            degradedSince: cache.degradedSince == 0 ? nil : cache.degradedSince,
            entries: cache.diskEntries, bytes: cache.diskBytes,
            overheadBytes: cache.diskOverheadBytes,
            limitBytes: cache.diskBytesMax == 0 ? nil : cache.diskBytesMax,
            limitEntries: cache.diskEntriesMax == 0 ? nil : cache.diskEntriesMax,
            hits: cache.diskHits, misses: cache.misses, bytesWritten: cache.diskBytesWritten,
            trims: cache.diskTrims, entriesTrimmed: cache.diskEntriesTrimmed,
            entriesExpired: cache.diskEntriesExpired, failures: cache.diskFailures,
            entriesLost: cache.entriesLost, indexesSetAside: cache.indexesSetAside,
            indexReason: cache.indexReason.isEmpty ? nil : cache.indexReason,
            indexUpgradedFrom: cache.indexUpgradedFrom == 0 ? nil : cache.indexUpgradedFrom,
            storesSkipped: cache.storesSkipped)
    }
}

/// The number of requests answered by each cache tier.
struct TierShares {
    let rows: [(tier: String, requests: UInt64)]

    /// Counts since the coordinator started, or since an earlier report.
    init(_ report: StatusReport, since earlier: StatusReport? = nil) {
        rows = [
            ("memory", "memoryHits"), ("disk", "diskHits"), ("original", "originalUses"),
            ("miss", "misses"),
        ].map { tier, counter in
            (tier, report.growth(of: counter, since: earlier))
        }
    }

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
