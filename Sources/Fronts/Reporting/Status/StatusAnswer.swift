package import Messages

/// The status as an object for JSON (SEMANTICS §15.4).
package struct StatusAnswer: Encodable {
    struct Process: Encodable {
        let kind: String
        let pid: UInt32
        let state: String
        let restarts: UInt32
        let jobs: UInt32
        /// Jobs that it takes at a time.
        let credit: UInt32
        /// Names of the layers that hold.
        let sandbox: [String]
        /// Its pool: its kind, unless configuration added it.
        let pool: String

        init(_ process: StatusReport.ProcessStatus) {
            (kind, pid, state) = (process.kind.name, process.pid, process.state)
            (restarts, jobs, credit) = (process.restarts, process.jobs, process.credit)
            (sandbox, pool) = (process.sandbox.names, process.pool.text)
        }

        /// A front is of no pool, and has no jobs.
        init(_ front: StatusReport.FrontStatus) {
            (kind, pid, state) = (front.process.name, front.pid, "ready")
            (restarts, jobs, credit) = (front.process.restarts, 0, 0)
            (sandbox, pool) = (front.process.sandbox.names, front.process.name)
        }
    }

    struct Pool: Encodable {
        let name: String
        let kind: String
        let trust: String
        let workers: UInt32
        let jobs: UInt32
        /// Jobs that its workers take at a time.
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

    /// Milliseconds from `CancelJob` to a free worker.
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

    /// How long something took, in milliseconds; null where nothing was counted.
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

    /// How many requests a tier of the cache answered, and their share of all that asked it.
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
    /// By phase of the transfers.
    let transfers: [String: Durations]
    let unverifiedHosts: [String]

    package init(_ report: StatusReport) {
        processes = report.processes.map { Process($0) } + report.fronts.map { Process($0) }
        pools = report.pools.map {
            Pool(
                name: $0.name.text, kind: $0.kind.name,
                trust: ($0.isForeign ? WorkerPool.Trust.foreign : .own).name, workers: $0.workers,
                jobs: $0.jobs, credit: $0.credit, queued: $0.queued, outputBytes: $0.outputBytes)
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
