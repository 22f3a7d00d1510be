package import Model

/// Counters since the start.
package struct SchedulerCounters: Hashable, Sendable {
    /// Received loads, including refused ones; resends are not counted again.
    package var requests: UInt64 = 0
    /// Requests answered from memory, by the coordinator or by the cache.
    package var memoryHits: UInt64 = 0
    /// Memory hits that clients served themselves with vouchers, as far as reported.
    package var voucherHits: UInt64 = 0
    /// Requests answered from disk.
    package var diskHits: UInt64 = 0
    /// Originals found in the cache.
    package var originalHits: UInt64 = 0
    /// Partial images produced.
    package var partials: UInt64 = 0
    /// Requests answered with an image made from a cached original.
    package var originalUses: UInt64 = 0
    /// Requests that missed in every cache, whether or not they were then loaded.
    package var misses: UInt64 = 0
    /// Transfers assigned to a worker, including repeated attempts.
    package var fetches: UInt64 = 0
    /// Decodes assigned to a worker, including repeated attempts.
    package var decodes: UInt64 = 0
    /// Transforms assigned to a worker, including repeated attempts.
    package var transforms: UInt64 = 0
    /// Stores and deliveries assigned to a worker, including repeated attempts.
    package var stores: UInt64 = 0
    /// Requests that were canceled, or whose client left.
    package var cancelled: UInt64 = 0
    /// Requests that ended with another error.
    package var failed: UInt64 = 0
    /// The same by error code.
    package var failures: [ErrorCode: UInt64] = [:]
    /// Requests and work that joined work in flight.
    package var coalesced = Coalesced()
    /// Jobs and requests restarted because a worker was lost or space was missing, and retried
    /// transfers.
    package var requeued: UInt64 = 0
    /// Transfers retried after a failure of the origin.
    package var retries: UInt64 = 0
    /// Metrics of transfers that delivered a body, as reported by workers.
    package var transfers = Transfers()
    /// Requests refused because of the failure cache; those without a fallback also count as
    /// failed.
    package var failureCacheRefusals: UInt64 = 0
    /// Requests answered with a fallback.
    package var fallbacks: UInt64 = 0
    /// Workers that crashed with a job and left a crash record.
    package var crashes: UInt64 = 0
    /// Prefetch URLs that finished without being canceled, successfully or not; they also count as
    /// requests.
    package var prefetched: UInt64 = 0
    /// Requests refused because a limit was reached; they also count as failed.
    package var refusedBusy: UInt64 = 0
    /// Requests refused because a stage had too much queued work, by stage; part of
    /// `refusedBusy`.
    package var refused: [JobStage: UInt64] = [:]
    /// Requests whose deadline passed while no worker had the job they waited for; they also count
    /// as failed.
    package var expired: UInt64 = 0

    /// Creates zeroed counters.
    package init() {}

    /// Transfers that delivered a body.
    package struct Transfers: Hashable, Sendable {
        /// Number of transfers by HTTP version.
        package var versions: [String: UInt64] = [:]
        /// Transfers over a reused connection.
        package var reused: UInt64 = 0
        /// Bytes received, before content decoding.
        package var bytes: UInt64 = 0
        /// Redirects followed.
        package var redirects: UInt64 = 0
        /// Interrupted bodies that were resumed.
        package var continuations: UInt64 = 0

        /// Creates zeroed counters.
        package init() {}

        init(_ metrics: TransferMetrics) {
            versions = metrics.versions
            reused = metrics.reused
            bytes = metrics.bytes
            redirects = metrics.redirects
            continuations = metrics.continuations
        }
    }

    /// Adds the metrics of jobs.
    mutating func add(_ metrics: DispatchMetrics) {
        fetches += metrics.assigned(.fetch)
        decodes += metrics.assigned(.decode)
        transforms += metrics.assigned(.transform)
        stores += metrics.assigned(.store)
        requeued += metrics.requeued
        retries += metrics.retries
        transfers = Transfers(metrics.transfers)
        crashes += metrics.crashes
        refused.merge(metrics.refused) { $0 + $1 }
    }

    /// Adds the metrics of coalescing and cache lookups.
    mutating func add(_ metrics: WorkGraphMetrics) {
        coalesced.lookups += metrics.joinedLookups
        coalesced.results += metrics.joinedResults
        coalesced.decodes += metrics.joinedDecodes
        coalesced.sources += metrics.joinedSources
        originalHits += metrics.originalHits
        partials += metrics.partials
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
package struct Coalesced: Hashable, Sendable {
    /// Requests that joined a query of their result's key.
    package var lookups: UInt64 = 0
    /// Requests that joined a result in production.
    package var results: UInt64 = 0
    /// Results that joined a decode.
    package var decodes: UInt64 = 0
    /// Decodes that joined a transfer, or a query of the original.
    package var sources: UInt64 = 0

    /// Creates zeroed counters.
    package init() {}

    /// Requests that joined any work.
    package var requests: UInt64 { lookups + results }
}
