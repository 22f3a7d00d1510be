package import Model

/// The status in the Prometheus text exposition format, version 0.0.4, with base units, and the
/// same families in the same order every time.
package enum MetricsText {
    package static func text(_ report: StatusReport) -> String {
        var uptime = MetricFamily(
            "imagebus_uptime_seconds", .gauge, "Seconds since the coordinator started.")
        uptime.add(Double(report.uptimeMilliseconds) / 1_000)
        let families =
            [uptime] + processes(report) + pools(report) + stages(report) + counters(report)
            + StoreMetrics.families(report.caches) + NamedCacheMetrics.families(report.caches)
            + ReadOnlyMetrics.families(report.caches) + sockets(report)
        return families.map(\.text).joined()
    }

    /// Aggregated by kind, because process IDs change.
    private static func processes(_ report: StatusReport) -> [MetricFamily] {
        let members = ProcessRow.all(report)
        let fronts = Set(report.fronts.map(\.process.name)).sorted()
        let kinds = MetricRows(WorkerKind.allCases.map(\.name) + fronts) { [("kind", $0)] }
        let workers = MetricRows(WorkerKind.workers.map(\.name)) { [("kind", $0)] }
        let states = WorkerKind.allCases.flatMap { kind in
            ["ready", "busy", "draining"].map { (kind: kind.name, state: $0) }
        }
        let counts = MetricRows(states + fronts.map { (kind: $0, state: "ready") }) {
            [("kind", $0.kind), ("state", $0.state)]
        }
        func sum(_ kind: String, _ value: KeyPath<ProcessRow, UInt32>) -> UInt64 {
            members.reduce(0) { $0 + ($1.kind == kind ? UInt64($1[keyPath: value]) : 0) }
        }
        return [
            counts.family("processes", "Connected processes by kind and state.") { row in
                members.count { $0.kind == row.kind && $0.state == row.state }
            },
            kinds.family(
                "process_restarts",
                "Restarts of the connected processes, as reported by their supervisors."
            ) { sum($0, \.restarts) },
            workers.family("worker_jobs", "Jobs assigned to workers.") { sum($0, \.jobs) },
            workers.family("worker_credit", "Concurrent jobs that workers accept.") {
                sum($0, \.credit)
            },
        ]
    }

    private static func pools(_ report: StatusReport) -> [MetricFamily] {
        let pools = MetricRows(report.pools) { [("pool", $0.name.text), ("kind", $0.kind.name)] }
        return [
            pools.family("pool_workers", "Connected workers by pool.", \.workers),
            pools.family("pool_jobs", "Jobs assigned to the workers of a pool.", \.jobs),
            pools.family(
                "pool_credit", "Concurrent jobs that the workers of a pool accept.", \.credit),
            pools.family("pool_queued_jobs", "Jobs queued for a pool.", \.queued),
            pools.family("pool_output_bytes", "Bytes of the pool's output in use.", \.outputBytes),
        ]
    }

    /// The stages, their cancels, and the phases of transfers.
    private static func stages(_ report: StatusReport) -> [MetricFamily] {
        let requests = MetricRows([report.requests]) { _ in [] }
        let stages = MetricRows(report.stages) { [("stage", $0.stage)] }
        let cancels = MetricRows(report.cancellations) { [("stage", $0.stage)] }
        let transfers = MetricRows(report.transfers) { [("phase", $0.phase)] }
        return [
            requests.histogram(
                "request_duration_seconds",
                "Time from admission to reply, excluding requests answered from the hit index.",
                \.self),
            stages.family("stage_queued_jobs", "Queued jobs by stage.", \.queued),
            stages.family("stage_queued_cost", "Estimated cost of queued jobs.", \.queuedCost),
            stages.family("stage_running_jobs", "Running jobs by stage.", \.running),
            stages.histogram("stage_wait_seconds", "Time jobs waited for a worker.", \.waits),
            stages.histogram("stage_work_seconds", "Processing time reported by workers.", \.works),
            cancels.histogram(
                "cancel_duration_seconds",
                "Time from cancelling a job until its worker was free.", \.durations),
            cancels.family(
                "cancels_hard_total",
                "Cancels that ended the process because native code did not respond.", \.hard),
            transfers.histogram(
                "transfer_duration_seconds",
                "Duration of the phases of transfers that returned a body.", \.durations),
        ]
    }

    /// Counters unknown to this version are exported, too.
    private static func counters(_ report: StatusReport) -> [MetricFamily] {
        var families = CounterMetric.all.map { MetricFamily(counterOrGauge: $0.metric, $0.help) }
        var others = MetricFamily(
            "imagebus_other", .untyped, "Counters and gauges unknown to this version.")
        for counter in report.counters where !CounterMetric.isCovered(counter.name) {
            let index = CounterMetric.all.firstIndex { $0.labels(of: counter.name) != nil }
            if let index, let labels = CounterMetric.all[index].labels(of: counter.name) {
                families[index].add(counter.value, labels)
            } else {
                others.add(counter.value, [("name", counter.name)])
            }
        }
        return families + [others]
    }

    private static func sockets(_ report: StatusReport) -> [MetricFamily] {
        let sockets = MetricRows(report.sockets) { [("socket", $0.name)] }
        let directions = MetricRows(
            report.sockets.flatMap { [(socket: $0, isIn: true), (socket: $0, isIn: false)] }
        ) { [("socket", $0.socket.name), ("direction", $0.isIn ? "in" : "out")] }
        return [
            directions.family("socket_messages_total", "Messages sent and received.") {
                $0.isIn ? $0.socket.messagesReceived : $0.socket.messagesSent
            },
            directions.family("socket_bytes_total", "Bytes of these messages, all frames.") {
                $0.isIn ? $0.socket.bytesReceived : $0.socket.bytesSent
            },
            sockets.family(
                "socket_largest_message_bytes", "Largest message sent or received.",
                \.largestMessage),
        ]
    }
}

/// Rows that are samples of several families, with the same labels in each.
struct MetricRows<Row> {
    private let rows: [Row]
    private let labels: (Row) -> MetricFamily.Labels

    init(_ rows: [Row], _ labels: @escaping (Row) -> MetricFamily.Labels) {
        (self.rows, self.labels) = (rows, labels)
    }

    /// Returns the family `imagebus_NAME` with a sample of each row.
    func family<Value: BinaryInteger>(
        _ name: String, _ help: String, _ value: (Row) -> Value
    ) -> MetricFamily {
        var family = MetricFamily(counterOrGauge: name, help)
        for row in rows { family.add(UInt64(value(row)), labels(row)) }
        return family
    }

    func histogram(
        _ name: String, _ help: String, _ value: (Row) -> LatencyHistogram
    ) -> MetricFamily {
        var family = MetricFamily("imagebus_\(name)", .histogram, help)
        for row in rows { family.add(value(row), labels(row)) }
        return family
    }
}

/// The metric for counters of the status.
struct CounterMetric {
    let metric: String
    let help: String
    /// Counter names in the status, each with a label value. A name that ends with a dot matches
    /// all counters that begin with it, and the remainder is the label value.
    let names: [(String, String)]
    let label: String

    init(_ metric: String, _ name: String, by label: String = "", _ help: String) {
        self.init(metric, [(name, "")], by: label, help)
    }

    init(_ metric: String, _ names: [(String, String)], by label: String, _ help: String) {
        (self.metric, self.names, self.label, self.help) = (metric, names, label, help)
    }

    /// Returns the labels of this metric's sample for a counter; `nil` if the counter belongs to
    /// another metric.
    func labels(of counter: String) -> MetricFamily.Labels? {
        for (name, value) in names {
            if name == counter { return label.isEmpty ? [] : [(label, value)] }
            if name.hasSuffix("."), counter.hasPrefix(name) {
                return [(label, String(counter.dropFirst(name.count)))]
            }
        }
        return nil
    }

    /// Whether a counter is exported otherwise: as the sum of other samples, or as a metric of its
    /// own.
    static func isCovered(_ counter: String) -> Bool {
        ["failed", "coalesced"].contains(counter) || counter.hasPrefix("queued.")
    }

    static let all = requests + work + externalCaches + state + peers

    private static let requests: [CounterMetric] = [
        .init("requests_total", "requests", "Load requests received."),
        .init(
            "cache_requests_total",
            TierShares.counters.map { ($0.counter, $0.tier) }, by: "tier",
            "Requests by cache outcome: result in memory, result on disk, original, or none."),
        .init("voucher_hits_total", "voucherHits", "Memory hits served client-side from vouchers."),
        .init(
            "requests_failed_total", "failed.", by: "reason",
            "Requests that failed, excluding cancelled ones."),
        .init(
            "requests_cancelled_total", "cancelled",
            "Requests cancelled or abandoned by their client."),
        .init(
            "requests_refused_total",
            [("refusedBusy", "busy"), ("blacklistRefusals", "blacklisted")], by: "reason",
            "Requests refused because a limit was reached or the failure cache has their source."),
        .init("fallbacks_total", "fallbacks", "Requests answered with a fallback image."),
        .init(
            "coalesced_total", "coalesced.", by: "level",
            "Requests that joined work already in progress, by level."),
    ]

    private static let work: [CounterMetric] = [
        .init(
            "jobs_started_total",
            [
                ("fetches", "fetch"), ("decodes", "decode"), ("transforms", "transform"),
                ("stores", "store"),
            ], by: "stage", "Jobs assigned to workers, including retries."),
        .init("original_hits_total", "originalHits", "Originals found in the cache."),
        .init(
            "partial_images_total", "partials",
            "Images rendered from partially downloaded sources."),
        .init(
            "requeued_total", "requeued",
            "Jobs and requests restarted after losing a worker or running out of space."),
        .init("retries_total", "retries", "Transfers retried after an origin failure."),
        .init(
            "transfers_total", "transfers.", by: "version",
            "Transfers that returned a body, by HTTP version."),
        .init("transfers_reused_total", "reusedConnections", "Transfers over a reused connection."),
        .init(
            "transferred_bytes_total", "transferredBytes",
            "Body bytes received, before content decoding."),
        .init("redirects_total", "redirects", "Redirects followed."),
        .init("continuations_total", "continuations", "Interrupted transfers that were resumed."),
        .init("prefetched_total", "prefetched", "URLs completed by prefetches."),
        .init("worker_crashes_total", "crashes", "Workers that crashed or hung during a job."),
        .init(
            "piece_deliveries_total", "pieceDeliveries",
            "Results delivered through the socket in chunks."),
        .init("uploads_total", "uploads", "Images uploaded by clients."),
    ]

    private static let externalCaches: [CounterMetric] = [
        ("Hits", "External cache queries that hit."),
        ("Misses", "External cache queries that missed."),
        ("Writes", "External cache operations completed: stores, removals and lookups."),
        ("Errors", "External cache operations that failed or were lost with a worker."),
        ("Slow", "External cache operations that timed out."),
        ("Skipped", "External cache operations skipped: assumed misses and omitted stores."),
        ("Refused", "External cache hits discarded: image and announced properties differ."),
        ("Promoted", "External cache hits copied to the stack's own cache."),
    ].map { name, help in
        CounterMetric(
            "foreign_cache_\(name.lowercased())_total", "foreignCache\(name).", by: "pool",
            help)
    }

    private static let state: [CounterMetric] = [
        .init(
            "foreign_cache_left_alone", "foreignCacheLeftAlone.", by: "pool",
            "1 if the external cache is suspended after timeouts or errors, else 0."),
        .init(
            "quarantined", "quarantined",
            "Images in quarantine after crashing or hanging workers."),
        .init("blacklisted", "blacklisted", "Sources in the failure cache."),
        .init(
            "downloads_suspended", "downloadsSuspended",
            "1 if an operator suspended downloads, else 0."),
        .init("prefetches", "prefetches", "Prefetches in progress."),
        .init("waiting_prefetches", "waitingPrefetches", "Prefetch URLs not started yet."),
        .init("live_requests", "liveRequests", "Requests without a terminal reply."),
        .init("live_jobs", "liveJobs", "Jobs that are queued, running or being cancelled."),
        .init("live_blocks", "liveBlocks", "Stage output blocks in use."),
        .init("live_bytes", "liveBytes.", by: "kind", "Bytes of worker output not consumed yet."),
        .init(
            "indexed_hits", "indexedHits",
            "Memory tier entries the coordinator serves without querying the cache."),
        .init("clients", "clients", "Connected clients."),
    ]

    private static let peers: [CounterMetric] = [
        .init("messages_malformed_total", "malformedMessages", "Malformed messages received."),
        .init(
            "workers_expelled_total", "expelledWorkers",
            "Workers disconnected for protocol violations."),
        .init("workers_lost_total", "lostWorkers", "Workers that disconnected without a goodbye."),
        .init("clients_lost_total", "lostClients", "Clients that disconnected without a goodbye."),
        .init(
            "peers_stalled_total", "stalledPeers",
            "Sessions closed because the peer did not read."),
        .init(
            "strangers_total", "strangers", "Connections closed before a session was established."),
        .init(
            "connections_refused_total", "refusedConnections",
            "Connections refused by the limit per process or in total."),
    ]
}

/// A metric with all its samples, in the Prometheus text exposition format, version 0.0.4.
package struct MetricFamily: Hashable {
    package enum Kind: String {
        case counter
        case gauge
        case histogram
        case untyped
    }

    /// Label names and values, in order.
    package typealias Labels = [(name: String, value: String)]

    package let name: String
    let kind: Kind
    let help: String
    /// The samples as complete lines.
    private(set) var lines: [String] = []

    package init(_ name: String, _ kind: Kind, _ help: String) {
        (self.name, self.kind, self.help) = (name, kind, help)
    }

    /// Creates the family `imagebus_NAME`: a counter if the name ends in `_total`, else a gauge.
    init(counterOrGauge name: String, _ help: String) {
        self.init("imagebus_\(name)", name.hasSuffix("_total") ? .counter : .gauge, help)
    }

    /// The family in exposition format; empty if it has no samples.
    package var text: String {
        guard !lines.isEmpty else { return "" }
        let head = "# HELP \(name) \(help)\n# TYPE \(name) \(kind.rawValue)\n"
        return head + lines.map { $0 + "\n" }.joined()
    }

    package mutating func add(_ value: UInt64, _ labels: Labels = []) {
        lines.append("\(name)\(Self.text(labels)) \(value)")
    }

    package mutating func add(_ value: Double, _ labels: Labels = []) {
        lines.append("\(name)\(Self.text(labels)) \(value)")
    }

    /// Adds a histogram. Buckets are cumulative, and the last one counts all samples.
    package mutating func add(_ histogram: LatencyHistogram, _ labels: Labels = []) {
        for octave in Self.octaves {
            let bound = "\(Double(1 << octave) / 1e6)"
            let count = histogram.count(upTo: octave * LatencyHistogram.bucketsPerOctave)
            lines.append("\(name)_bucket\(Self.text(labels + [("le", bound)])) \(count)")
        }
        let count = histogram.count
        lines.append("\(name)_bucket\(Self.text(labels + [("le", "+Inf")])) \(count)")
        lines.append("\(name)_sum\(Self.text(labels)) \(Double(histogram.sum) / 1e6)")
        lines.append("\(name)_count\(Self.text(labels)) \(count)")
    }

    /// From 128 microseconds to 67 seconds. The bounds coincide with bucket limits, so counts are
    /// exact.
    private static let octaves = 7...26

    private static func text(_ labels: Labels) -> String {
        guard !labels.isEmpty else { return "" }
        let parts = labels.map { "\($0.name)=\"\(escaped($0.value))\"" }
        return "{\(parts.joined(separator: ","))}"
    }

    private static func escaped(_ value: String) -> String {
        // Iterates over scalars, because CR LF is a single character.
        value.unicodeScalars.map { scalar in
            switch scalar {
            case "\\": "\\\\"
            case "\"": "\\\""
            case "\n": "\\n"
            default: String(scalar)
            }
        }.joined()
    }
}
