import Model

/// Counters since the start.
struct SchedulerCounters: Hashable, Sendable {
    /// Received loads, including refused ones; resends are not counted again.
    var requests: UInt64 = 0
    /// Requests answered from memory, by the coordinator or by the cache.
    var memoryHits: UInt64 = 0
    /// Memory hits that clients served themselves with vouchers, as far as reported.
    var voucherHits: UInt64 = 0
    /// Requests answered from disk.
    var diskHits: UInt64 = 0
    /// Originals found in the cache.
    var originalHits: UInt64 = 0
    /// Partial images produced.
    var partials: UInt64 = 0
    /// Requests answered with an image made from a cached original.
    var originalUses: UInt64 = 0
    /// Requests that missed in every cache, whether or not they were then loaded.
    var misses: UInt64 = 0
    /// Transfers assigned to a worker, including repeated attempts.
    var fetches: UInt64 = 0
    /// Decodes assigned to a worker, including repeated attempts.
    var decodes: UInt64 = 0
    /// Transforms assigned to a worker, including repeated attempts.
    var transforms: UInt64 = 0
    /// Stores and deliveries assigned to a worker, including repeated attempts.
    var stores: UInt64 = 0
    /// Requests that were canceled, or whose client left.
    var cancelled: UInt64 = 0
    /// Requests that ended with another error.
    var failed: UInt64 = 0
    /// The same by error code.
    var failures: [ErrorCode: UInt64] = [:]
    /// Requests and work that joined work in flight.
    var coalesced = Coalesced()
    /// Jobs and requests restarted because a worker was lost or space was missing, and retried
    /// transfers.
    var requeued: UInt64 = 0
    /// Transfers retried after a failure of the origin.
    var retries: UInt64 = 0
    /// Metrics of transfers that delivered a body, as reported by workers.
    var transfers = Transfers()
    /// Requests refused because of the failure cache; those without a fallback also count as
    /// failed.
    var failureCacheRefusals: UInt64 = 0
    /// Requests answered with a fallback.
    var fallbacks: UInt64 = 0
    /// Workers that crashed with a job and left a crash record.
    var crashes: UInt64 = 0
    /// Prefetch URLs that finished without being canceled, successfully or not; they also count as
    /// requests.
    var prefetched: UInt64 = 0
    /// Requests refused because a limit was reached; they also count as failed.
    var refusedBusy: UInt64 = 0
    /// Requests refused because a stage had too much queued work, by stage; part of
    /// `refusedBusy`.
    var refused: [JobStage: UInt64] = [:]
    /// Requests whose deadline passed while no worker had the job they waited for; they also count
    /// as failed.
    var expired: UInt64 = 0

    /// Transfers that delivered a body.
    struct Transfers: Hashable, Sendable {
        /// Number of transfers by HTTP version.
        var versions: [String: UInt64] = [:]
        /// Transfers over a reused connection.
        var reused: UInt64 = 0
        /// Bytes received, before content decoding.
        var bytes: UInt64 = 0
        /// Redirects followed.
        var redirects: UInt64 = 0
        /// Interrupted bodies that were resumed.
        var continuations: UInt64 = 0

        /// Creates zeroed counters.
        init() {}

        private static let knownVersions: Set = ["1.0", "1.1", "2", "3"]

        /// Adds a transfer, as reported by its worker. Unknown version names are merged so that the
        /// table can't grow.
        mutating func add(_ account: FetchAccount) {
            let version = account.httpVersion
            versions[Self.knownVersions.contains(version) ? version : "other", default: 0] += 1
            if account.isReused { reused += 1 }
            bytes &+= account.bytes
            redirects &+= UInt64(account.redirects)
            continuations &+= UInt64(account.continuations)
        }
    }

    /// Counts an assignment of a job.
    mutating func assigned(_ stage: JobStage) {
        switch stage {
        case .fetch: fetches += 1
        case .decode: decodes += 1
        case .transform: transforms += 1
        case .store: stores += 1
        case .query: break
        }
    }

    mutating func ended(with error: ImageError) {
        if error.code == .cancelled {
            cancelled += 1
        } else {
            failed += 1
            failures[error.code, default: 0] += 1
        }
        if error.code == .busy { refusedBusy += 1 }
    }
}

/// How often work in flight was joined, by level (SEMANTICS §3.1).
struct Coalesced: Hashable, Sendable {
    /// Requests that joined a query of their result's key.
    var lookups: UInt64 = 0
    /// Requests that joined a result in production.
    var results: UInt64 = 0
    /// Results that joined a decode.
    var decodes: UInt64 = 0
    /// Decodes that joined a transfer, or a query of the original.
    var sources: UInt64 = 0

    /// Requests that joined any work.
    var requests: UInt64 { lookups + results }
}
