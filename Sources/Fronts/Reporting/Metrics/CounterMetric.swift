/// What a counter of the status is called as a metric.
struct CounterMetric {
    let metric: String
    let kind: MetricFamily.Kind
    let help: String
    /// Names in the status, with the value of the label; a name that ends with a dot stands for all
    /// that begin with it, the rest is the value of the label.
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

    /// The labels of its sample for that counter; `nil` where the counter is another metric's.
    func labels(of counter: String) -> MetricFamily.Labels? {
        for (name, value) in names {
            if name == counter { return label.isEmpty ? [] : [(label, value)] }
            if name.hasSuffix("."), counter.hasPrefix(name) {
                return [(label, String(counter.dropFirst(name.count)))]
            }
        }
        return nil
    }

    static let all: [CounterMetric] = requests + work + foreignCaches + state + peers

    /// Counted otherwise: the sum of other samples, or what has a metric of its own.
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

    private static let foreignCaches = [
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
