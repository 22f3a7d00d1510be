package import Messages

/// The status in the Prometheus text exposition format, version 0.0.4, with base units, and the
/// same families in the same order every time.
package enum MetricsText {
    package static func text(_ report: StatusReport) -> String {
        families(report).map(\.text).joined()
    }

    private static func families(_ report: StatusReport) -> [MetricFamily] {
        [uptime(report)] + processes(report) + PoolMetrics.families(report.pools)
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
        var counts = MetricFamily(
            "imagebus_processes", .gauge, "Processes that are connected, by kind and state.")
        var restarts = MetricFamily(
            "imagebus_process_restarts", .gauge,
            "How often the processes that are connected were restarted, as their supervisors say.")
        var jobs = MetricFamily("imagebus_worker_jobs", .gauge, "Jobs that workers hold.")
        var credit = MetricFamily(
            "imagebus_worker_credit", .gauge, "Jobs that workers take at a time.")
        for kind in WorkerKind.allCases {
            let members = report.processes.filter { $0.kind == kind }
            let label = [(name: "kind", value: kind.name)]
            for state in ["ready", "busy", "draining"] {
                let count = members.count { $0.state == state }
                counts.add(UInt64(count), label + [("state", state)])
            }
            restarts.add(sum(members.map(\.restarts)), label)
            guard kind != .coordinator else { continue }
            jobs.add(sum(members.map(\.jobs)), label)
            credit.add(sum(members.map(\.credit)), label)
        }
        for name in Set(report.fronts.map(\.process.name)).sorted() {
            let members = report.fronts.filter { $0.process.name == name }
            let label = [(name: "kind", value: name)]
            counts.add(UInt64(members.count), label + [("state", "ready")])
            restarts.add(sum(members.map(\.process.restarts)), label)
        }
        return [counts, restarts, jobs, credit]
    }

    private static func sum(_ numbers: [UInt32]) -> UInt64 {
        numbers.reduce(0) { $0 + UInt64($1) }
    }

    private static func stages(_ report: StatusReport) -> [MetricFamily] {
        var requests = MetricFamily(
            "imagebus_request_duration_seconds", .histogram,
            "From admission to reply, without requests that the index of hits answered.")
        requests.add(report.requests)
        var queued = MetricFamily("imagebus_stage_queued_jobs", .gauge, "Jobs that wait.")
        var cost = MetricFamily(
            "imagebus_stage_queued_cost", .gauge,
            "What the jobs that wait cost, in the unit of the stage.")
        var running = MetricFamily("imagebus_stage_running_jobs", .gauge, "Jobs at workers.")
        var waits = MetricFamily(
            "imagebus_stage_wait_seconds", .histogram, "How long jobs waited for a worker.")
        var works = MetricFamily(
            "imagebus_stage_work_seconds", .histogram, "How long workers took, as they said.")
        for stage in report.stages {
            let label = [(name: "stage", value: stage.stage)]
            queued.add(stage.queued, label)
            cost.add(stage.queuedCost, label)
            running.add(stage.running, label)
            waits.add(stage.waits, label)
            works.add(stage.works, label)
        }
        return [requests, queued, cost, running, waits, works]
    }

    private static func cancellations(_ report: StatusReport) -> [MetricFamily] {
        var durations = MetricFamily(
            "imagebus_cancel_duration_seconds", .histogram,
            "From the cancel of a job until its worker was free.")
        var hard = MetricFamily(
            "imagebus_cancels_hard_total", .counter,
            "Cancels that ended the process, since native code did not heed them.")
        for stage in report.cancellations {
            let label = [(name: "stage", value: stage.stage)]
            durations.add(stage.durations, label)
            hard.add(stage.hard, label)
        }
        return [durations, hard]
    }

    private static func transfers(_ report: StatusReport) -> MetricFamily {
        var durations = MetricFamily(
            "imagebus_transfer_duration_seconds", .histogram,
            "How long the phases of transfers took that brought a body.")
        for times in report.transfers {
            durations.add(times.durations, [(name: "phase", value: times.phase)])
        }
        return durations
    }

    /// Counters unknown to this version are exported, too.
    private static func counters(_ report: StatusReport) -> [MetricFamily] {
        var families = CounterMetric.all.map { MetricFamily($0.metric, $0.kind, $0.help) }
        var others = MetricFamily(
            "imagebus_other", .untyped, "Counters and gauges of another version.")
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
        var messages = MetricFamily(
            "imagebus_socket_messages_total", .counter, "Messages through the coordinator.")
        var bytes = MetricFamily(
            "imagebus_socket_bytes_total", .counter, "Bytes of these messages, all frames.")
        var largest = MetricFamily(
            "imagebus_socket_largest_message_bytes", .gauge, "The largest message, in or out.")
        for socket in report.sockets {
            let label = [(name: "socket", value: socket.name)]
            messages.add(socket.messagesReceived, label + [("direction", "in")])
            messages.add(socket.messagesSent, label + [("direction", "out")])
            bytes.add(socket.bytesReceived, label + [("direction", "in")])
            bytes.add(socket.bytesSent, label + [("direction", "out")])
            largest.add(socket.largestMessage, label)
        }
        return [messages, bytes, largest]
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
        CounterMetric("requests_total", .counter, "requests", "Loads that came."),
        CounterMetric(
            "cache_requests_total", .counter,
            [
                ("memoryHits", "memory"), ("diskHits", "disk"), ("originalUses", "original"),
                ("misses", "miss"),
            ], by: "tier",
            "Requests by what the cache had: the result in memory or on disk, its original, "
                + "or nothing."),
        CounterMetric(
            "voucher_hits_total", .counter, "voucherHits",
            "Those among the requests that memory had which clients answered by vouchers."),
        CounterMetric(
            "requests_failed_total", .counter, "failed.", by: "reason",
            "Requests that ended with an error, cancelled ones excepted."),
        CounterMetric(
            "requests_cancelled_total", .counter, "cancelled",
            "Requests that were cancelled, or whose client left."),
        CounterMetric(
            "requests_refused_total", .counter,
            [("refusedBusy", "busy"), ("blacklistRefusals", "blacklisted")], by: "reason",
            "Requests that were refused since something was full, or their source failed before."),
        CounterMetric(
            "fallbacks_total", .counter, "fallbacks",
            "Requests that got a fallback instead of their image."),
        CounterMetric(
            "coalesced_total", .counter, "coalesced.", by: "level",
            "Work that was joined while it was under way, by level."),
    ]

    private static let work = [
        CounterMetric(
            "jobs_started_total", .counter,
            [
                ("fetches", "fetch"), ("decodes", "decode"), ("transforms", "transform"),
                ("stores", "store"),
            ], by: "stage", "Jobs given to workers, repeated attempts included."),
        CounterMetric(
            "original_hits_total", .counter, "originalHits", "Originals that the cache had."),
        CounterMetric(
            "partial_images_total", .counter, "partials",
            "Images that were made of what had arrived so far."),
        CounterMetric(
            "requeued_total", .counter, "requeued",
            "Jobs and requests that began again, since a worker was lost or there was no space."),
        CounterMetric(
            "retries_total", .counter, "retries",
            "Transfers that were tried again after a failure of their origin."),
        CounterMetric(
            "transfers_total", .counter, "transfers.", by: "version",
            "Transfers that brought a body, by version of HTTP."),
        CounterMetric(
            "transfers_reused_total", .counter, "reusedConnections",
            "Transfers over a connection that was there before."),
        CounterMetric(
            "transferred_bytes_total", .counter, "transferredBytes",
            "Bytes of bodies that came, content codings not undone."),
        CounterMetric("redirects_total", .counter, "redirects", "Redirects that were followed."),
        CounterMetric(
            "continuations_total", .counter, "continuations",
            "How often a body broke off and went on."),
        CounterMetric(
            "prefetched_total", .counter, "prefetched", "URLs that prefetches have finished."),
        CounterMetric(
            "worker_crashes_total", .counter, "crashes",
            "Workers that crashed or hung with a job, as their records say."),
        CounterMetric(
            "piece_deliveries_total", .counter, "pieceDeliveries",
            "Results that went out through the socket."),
        CounterMetric(
            "uploads_total", .counter, "uploads", "Images that clients brought along."),
    ]

    private static let externalCaches = [
        CounterMetric(
            "foreign_cache_hits_total", .counter, "foreignCacheHits.", by: "pool",
            "Queries that caches of other programs answered with bytes."),
        CounterMetric(
            "foreign_cache_misses_total", .counter, "foreignCacheMisses.", by: "pool",
            "Queries that they answered without any."),
        CounterMetric(
            "foreign_cache_writes_total", .counter, "foreignCacheWrites.", by: "pool",
            "Stores, removals and looks at entries that they answered."),
        CounterMetric(
            "foreign_cache_errors_total", .counter, "foreignCacheErrors.", by: "pool",
            "What they failed at, or was lost with a worker."),
        CounterMetric(
            "foreign_cache_slow_total", .counter, "foreignCacheSlow.", by: "pool",
            "What they did not answer in time."),
        CounterMetric(
            "foreign_cache_skipped_total", .counter, "foreignCacheSkipped.", by: "pool",
            "What they were not asked: misses, and stores that were not made."),
        CounterMetric(
            "foreign_cache_refused_total", .counter, "foreignCacheRefused.", by: "pool",
            "Results among the hits that were not the images that they were said to be."),
        CounterMetric(
            "foreign_cache_promoted_total", .counter, "foreignCachePromoted.", by: "pool",
            "Hits of external caches that entered this stack's own cache."),
        CounterMetric(
            "foreign_cache_left_alone", .gauge, "foreignCacheLeftAlone.", by: "pool",
            "1 where they are not asked for a while, since they were slow or failed, else 0."),
    ]

    private static let state = [
        CounterMetric(
            "quarantined", .gauge, "quarantined", "Content that is not tried for a while."),
        CounterMetric(
            "blacklisted", .gauge, "blacklisted", "Sources that are refused for a while."),
        CounterMetric(
            "downloads_suspended", .gauge, "downloadsSuspended",
            "1 where an operator lets no download begin, else 0."),
        CounterMetric(
            "prefetches", .gauge, "prefetches", "Prefetches that have not ended."),
        CounterMetric(
            "waiting_prefetches", .gauge, "waitingPrefetches",
            "URLs of prefetches that were not begun."),
        CounterMetric(
            "live_requests", .gauge, "liveRequests", "Requests without a terminal reply."),
        CounterMetric(
            "live_jobs", .gauge, "liveJobs", "Jobs that wait, run, or are being cancelled."),
        CounterMetric(
            "live_blocks", .gauge, "liveBlocks", "Blocks of stages that somebody reads or keeps."),
        CounterMetric(
            "live_bytes", .gauge, "liveBytes.", by: "kind",
            "Bytes that workers made and nobody has used up yet."),
        CounterMetric(
            "indexed_hits", .gauge, "indexedHits",
            "Entries of the memory tier that are answered without asking the cache."),
        CounterMetric("clients", .gauge, "clients", "Clients that are connected."),
    ]

    private static let peers = [
        CounterMetric(
            "messages_malformed_total", .counter, "malformedMessages",
            "Messages that were not understood."),
        CounterMetric(
            "workers_expelled_total", .counter, "expelledWorkers",
            "Workers whose session ended since they broke the protocol."),
        CounterMetric(
            "workers_lost_total", .counter, "lostWorkers",
            "Workers whose connection ended without a goodbye."),
        CounterMetric(
            "clients_lost_total", .counter, "lostClients",
            "Clients whose connection ended without a goodbye."),
        CounterMetric(
            "peers_stalled_total", .counter, "stalledPeers",
            "Sessions that ended since the peer did not read."),
        CounterMetric(
            "strangers_total", .counter, "strangers",
            "Connections that ended without ever having had a session."),
        CounterMetric(
            "connections_refused_total", .counter, "refusedConnections",
            "Connections that found no place: their process or all together have too many."),
    ]
}

/// Metrics of the worker pools.
enum PoolMetrics {
    static func families(_ pools: [StatusReport.PoolStatus]) -> [MetricFamily] {
        [
            family("workers", "Workers that are connected, by pool.", pools) { UInt64($0.workers) },
            family("jobs", "Jobs that the workers of a pool hold.", pools) { UInt64($0.jobs) },
            family("credit", "Jobs that the workers of a pool take at a time.", pools) {
                UInt64($0.credit)
            },
            family("queued_jobs", "Jobs that wait for a pool.", pools) { $0.queued },
            family("output_bytes", "Bytes of a pool's output that are in use.", pools) {
                $0.outputBytes
            },
        ]
    }

    private static func family(
        _ name: String, _ help: String, _ pools: [StatusReport.PoolStatus],
        _ value: (StatusReport.PoolStatus) -> UInt64
    ) -> MetricFamily {
        var family = MetricFamily("imagebus_pool_\(name)", .gauge, help)
        for pool in pools {
            family.add(value(pool), [("pool", pool.name.text), ("kind", pool.kind.name)])
        }
        return family
    }
}

/// A metric with all its samples, in the Prometheus text exposition format, version 0.0.4.
package struct MetricFamily: Hashable {
    /// The type of a metric.
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
