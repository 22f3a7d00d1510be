package import Model

/// The status in the Prometheus text exposition format, version 0.0.4, with base units, and the
/// same families in the same order every time.
package enum MetricsText {
    package static func text(_ report: StatusReport) -> String {
        families(report).map(\.text).joined()
    }

    private static func families(_ report: StatusReport) -> [MetricFamily] {
        [uptime(report)] + processes(report) + pools(report)
            + stages(report) + cancellations(report) + [transfers(report)] + counters(report)
            + StoreMetrics.families(report.caches) + NamedCacheMetrics.families(report.caches)
            + ReadOnlyMetrics.families(report.caches) + sockets(report)
    }

    private static func uptime(_ report: StatusReport) -> MetricFamily {
        var family = MetricFamily(
            "imagebus_uptime_seconds", .gauge, "Seconds since the coordinator started.")
        family.add(Double(report.uptimeMilliseconds) / 1_000)
        return family
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
            counts.family("processes", .gauge, "Connected processes by kind and state.") { row in
                UInt64(members.count { $0.kind == row.kind && $0.state == row.state })
            },
            kinds.family(
                "process_restarts", .gauge,
                "Restarts of the connected processes, as reported by their supervisors."
            ) { sum($0, \.restarts) },
            workers.family("worker_jobs", .gauge, "Jobs assigned to workers.") { sum($0, \.jobs) },
            workers.family(
                "worker_credit", .gauge, "Concurrent jobs that workers accept."
            ) { sum($0, \.credit) },
        ]
    }

    private static func pools(_ report: StatusReport) -> [MetricFamily] {
        let pools = MetricRows(report.pools) { [("pool", $0.name.text), ("kind", $0.kind.name)] }
        return [
            pools.family("pool_workers", .gauge, "Connected workers by pool.") {
                UInt64($0.workers)
            },
            pools.family("pool_jobs", .gauge, "Jobs assigned to the workers of a pool.") {
                UInt64($0.jobs)
            },
            pools.family(
                "pool_credit", .gauge, "Concurrent jobs that the workers of a pool accept."
            ) { UInt64($0.credit) },
            pools.family("pool_queued_jobs", .gauge, "Jobs queued for a pool.", \.queued),
            pools.family(
                "pool_output_bytes", .gauge, "Bytes of the pool's output in use.", \.outputBytes),
        ]
    }

    private static func stages(_ report: StatusReport) -> [MetricFamily] {
        let requests = MetricRows([report.requests]) { _ in [] }
        let stages = MetricRows(report.stages) { [("stage", $0.stage)] }
        return [
            requests.histogram(
                "request_duration_seconds",
                "Time from admission to reply, excluding requests answered from the hit index."
            ) { $0 },
            stages.family("stage_queued_jobs", .gauge, "Queued jobs by stage.", \.queued),
            stages.family(
                "stage_queued_cost", .gauge, "Estimated cost of queued jobs.", \.queuedCost),
            stages.family("stage_running_jobs", .gauge, "Running jobs by stage.", \.running),
            stages.histogram("stage_wait_seconds", "Time jobs waited for a worker.", \.waits),
            stages.histogram(
                "stage_work_seconds", "Processing time reported by workers.", \.works),
        ]
    }

    private static func cancellations(_ report: StatusReport) -> [MetricFamily] {
        let stages = MetricRows(report.cancellations) { [("stage", $0.stage)] }
        return [
            stages.histogram(
                "cancel_duration_seconds",
                "Time from cancelling a job until its worker was free.", \.durations),
            stages.family(
                "cancels_hard_total", .counter,
                "Cancels that ended the process because native code did not respond.", \.hard),
        ]
    }

    private static func transfers(_ report: StatusReport) -> MetricFamily {
        MetricRows(report.transfers) { [("phase", $0.phase)] }.histogram(
            "transfer_duration_seconds",
            "Duration of the phases of transfers that returned a body.", \.durations)
    }

    /// Counters unknown to this version are exported, too.
    private static func counters(_ report: StatusReport) -> [MetricFamily] {
        var families = CounterMetric.all.map { MetricFamily($0.metric, $0.kind, $0.help) }
        var others = MetricFamily(
            "imagebus_other", .untyped, "Counters and gauges unknown to this version.")
        for counter in report.counters where !isCovered(counter.name) {
            let index = CounterMetric.all.firstIndex { $0.labels(of: counter.name) != nil }
            if let index, let labels = CounterMetric.all[index].labels(of: counter.name) {
                families[index].add(counter.value, labels)
            } else {
                others.add(counter.value, [("name", counter.name)])
            }
        }
        return families + [others]
    }

    private static func isCovered(_ counter: String) -> Bool {
        CounterMetric.covered.contains(counter)
            || CounterMetric.coveredPrefixes.contains { counter.hasPrefix($0) }
    }

    private static func sockets(_ report: StatusReport) -> [MetricFamily] {
        let sockets = MetricRows(report.sockets) { [("socket", $0.name)] }
        let directions = MetricRows(
            report.sockets.flatMap { [(socket: $0, isIn: true), (socket: $0, isIn: false)] }
        ) { [("socket", $0.socket.name), ("direction", $0.isIn ? "in" : "out")] }
        return [
            directions.family(
                "socket_messages_total", .counter, "Messages sent and received."
            ) { $0.isIn ? $0.socket.messagesReceived : $0.socket.messagesSent },
            directions.family(
                "socket_bytes_total", .counter, "Bytes of these messages, all frames."
            ) { $0.isIn ? $0.socket.bytesReceived : $0.socket.bytesSent },
            sockets.family(
                "socket_largest_message_bytes", .gauge, "Largest message sent or received.",
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
    func family(
        _ name: String, _ kind: MetricFamily.Kind, _ help: String, _ value: (Row) -> UInt64
    ) -> MetricFamily {
        var family = MetricFamily("imagebus_\(name)", kind, help)
        for row in rows { family.add(value(row), labels(row)) }
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

/// The metric for a counter of the status.
struct CounterMetric {
    let metric: String
    let kind: MetricFamily.Kind
    let help: String
    /// Counter names in the status, each with a label value. A name that ends with a dot matches
    /// all counters that begin with it, and the remainder is the label value.
    let names: [(name: String, value: String)]
    let label: String

    init(
        _ metric: String, _ kind: MetricFamily.Kind, _ name: String, by label: String = "",
        _ help: String
    ) {
        self.init(metric, kind, [(name, "")], by: label, help)
    }

    init(
        _ metric: String, _ kind: MetricFamily.Kind, _ names: [(name: String, value: String)],
        by label: String, _ help: String
    ) {
        self.metric = "imagebus_\(metric)"
        self.kind = kind
        self.names = names
        self.label = label
        self.help = help
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

    static let all: [CounterMetric] = requests + work + externalCaches + state + peers

    /// Counters that are exported otherwise: as the sum of other samples, or as metrics of their
    /// own.
    static let coveredPrefixes = ["queued."]
    static let covered: Set<String> = ["failed", "coalesced"]

    private static let requests = [
        CounterMetric("requests_total", .counter, "requests", "Load requests received."),
        CounterMetric(
            "cache_requests_total", .counter,
            [
                ("memoryHits", "memory"), ("diskHits", "disk"), ("originalUses", "original"),
                ("misses", "miss"),
            ], by: "tier",
            "Requests by cache outcome: result in memory, result on disk, original, or "
                + "none."),
        CounterMetric(
            "voucher_hits_total", .counter, "voucherHits",
            "Memory hits served client-side from vouchers."),
        CounterMetric(
            "requests_failed_total", .counter, "failed.", by: "reason",
            "Requests that failed, excluding cancelled ones."),
        CounterMetric(
            "requests_cancelled_total", .counter, "cancelled",
            "Requests cancelled or abandoned by their client."),
        CounterMetric(
            "requests_refused_total", .counter,
            [("refusedBusy", "busy"), ("blacklistRefusals", "blacklisted")], by: "reason",
            "Requests refused because a limit was reached or the failure cache has their source."),
        CounterMetric(
            "fallbacks_total", .counter, "fallbacks",
            "Requests answered with a fallback image."),
        CounterMetric(
            "coalesced_total", .counter, "coalesced.", by: "level",
            "Requests that joined work already in progress, by level."),
    ]

    private static let work = [
        CounterMetric(
            "jobs_started_total", .counter,
            [
                ("fetches", "fetch"), ("decodes", "decode"), ("transforms", "transform"),
                ("stores", "store"),
            ], by: "stage", "Jobs assigned to workers, including retries."),
        CounterMetric(
            "original_hits_total", .counter, "originalHits", "Originals found in the cache."),
        CounterMetric(
            "partial_images_total", .counter, "partials",
            "Images rendered from partially downloaded sources."),
        CounterMetric(
            "requeued_total", .counter, "requeued",
            "Jobs and requests restarted after losing a worker or running out of space."),
        CounterMetric(
            "retries_total", .counter, "retries",
            "Transfers retried after an origin failure."),
        CounterMetric(
            "transfers_total", .counter, "transfers.", by: "version",
            "Transfers that returned a body, by HTTP version."),
        CounterMetric(
            "transfers_reused_total", .counter, "reusedConnections",
            "Transfers over a reused connection."),
        CounterMetric(
            "transferred_bytes_total", .counter, "transferredBytes",
            "Body bytes received, before content decoding."),
        CounterMetric("redirects_total", .counter, "redirects", "Redirects followed."),
        CounterMetric(
            "continuations_total", .counter, "continuations",
            "Interrupted transfers that were resumed."),
        CounterMetric(
            "prefetched_total", .counter, "prefetched", "URLs completed by prefetches."),
        CounterMetric(
            "worker_crashes_total", .counter, "crashes",
            "Workers that crashed or hung during a job."),
        CounterMetric(
            "piece_deliveries_total", .counter, "pieceDeliveries",
            "Results delivered through the socket in chunks."),
        CounterMetric(
            "uploads_total", .counter, "uploads", "Images uploaded by clients."),
    ]

    private static let externalCaches = [
        CounterMetric(
            "foreign_cache_hits_total", .counter, "foreignCacheHits.", by: "pool",
            "External cache queries that hit."),
        CounterMetric(
            "foreign_cache_misses_total", .counter, "foreignCacheMisses.", by: "pool",
            "External cache queries that missed."),
        CounterMetric(
            "foreign_cache_writes_total", .counter, "foreignCacheWrites.", by: "pool",
            "External cache operations completed: stores, removals and lookups."),
        CounterMetric(
            "foreign_cache_errors_total", .counter, "foreignCacheErrors.", by: "pool",
            "External cache operations that failed or were lost with a worker."),
        CounterMetric(
            "foreign_cache_slow_total", .counter, "foreignCacheSlow.", by: "pool",
            "External cache operations that timed out."),
        CounterMetric(
            "foreign_cache_skipped_total", .counter, "foreignCacheSkipped.", by: "pool",
            "External cache operations skipped: assumed misses and omitted stores."),
        CounterMetric(
            "foreign_cache_refused_total", .counter, "foreignCacheRefused.", by: "pool",
            "External cache hits discarded: image and announced properties differ."),
        CounterMetric(
            "foreign_cache_promoted_total", .counter, "foreignCachePromoted.", by: "pool",
            "External cache hits copied to the stack's own cache."),
        CounterMetric(
            "foreign_cache_left_alone", .gauge, "foreignCacheLeftAlone.", by: "pool",
            "1 if the external cache is suspended after timeouts or errors, else 0."),
    ]

    private static let state = [
        CounterMetric(
            "quarantined", .gauge, "quarantined",
            "Images in quarantine after crashing or hanging workers."),
        CounterMetric(
            "blacklisted", .gauge, "blacklisted", "Sources in the failure cache."),
        CounterMetric(
            "downloads_suspended", .gauge, "downloadsSuspended",
            "1 if an operator suspended downloads, else 0."),
        CounterMetric(
            "prefetches", .gauge, "prefetches", "Prefetches in progress."),
        CounterMetric(
            "waiting_prefetches", .gauge, "waitingPrefetches",
            "Prefetch URLs not started yet."),
        CounterMetric(
            "live_requests", .gauge, "liveRequests", "Requests without a terminal reply."),
        CounterMetric(
            "live_jobs", .gauge, "liveJobs", "Jobs that are queued, running or being cancelled."),
        CounterMetric(
            "live_blocks", .gauge, "liveBlocks", "Stage output blocks in use."),
        CounterMetric(
            "live_bytes", .gauge, "liveBytes.", by: "kind",
            "Bytes of worker output not consumed yet."),
        CounterMetric(
            "indexed_hits", .gauge, "indexedHits",
            "Memory tier entries the coordinator serves without querying the cache."),
        CounterMetric("clients", .gauge, "clients", "Connected clients."),
    ]

    private static let peers = [
        CounterMetric(
            "messages_malformed_total", .counter, "malformedMessages",
            "Malformed messages received."),
        CounterMetric(
            "workers_expelled_total", .counter, "expelledWorkers",
            "Workers disconnected for protocol violations."),
        CounterMetric(
            "workers_lost_total", .counter, "lostWorkers",
            "Workers that disconnected without a goodbye."),
        CounterMetric(
            "clients_lost_total", .counter, "lostClients",
            "Clients that disconnected without a goodbye."),
        CounterMetric(
            "peers_stalled_total", .counter, "stalledPeers",
            "Sessions closed because the peer did not read."),
        CounterMetric(
            "strangers_total", .counter, "strangers",
            "Connections closed before a session was established."),
        CounterMetric(
            "connections_refused_total", .counter, "refusedConnections",
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
        self.name = name
        self.kind = kind
        self.help = help
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
