import Model

/// Limits of jobs and workers. The defaults suit a small machine with a slow network.
package struct DispatchLimits: Hashable, Sendable {
    /// The worker pools and what each is granted.
    var pools = WorkerPools()
    /// The largest number of jobs that wait for one pool. Beyond it, queries and fetches are
    /// refused as `busy` and originals are not stored. Later stages are bounded by the requests
    /// that they serve.
    package var queuedJobsMax = 16_384
    /// The largest total cost of waiting jobs per stage; requests that would start more work are
    /// refused as `busy`. Stores count in units of 4 KiB, decodes by the bytes of their sources,
    /// transforms by pixels (multiplied for slow encoders), queries and transfers by number. The
    /// defaults are minutes of work for a small machine; waiting longer is pointless.
    var queuedCostMax = PerStage<UInt64>(
        store: (1 << 30) / 4_096, query: 16_384, fetch: 16_384, decode: 1 << 30,
        transform: 4_000_000_000)
    /// The order of one client's transfers within a priority class.
    var fetchOrder = FetchOrder.fifo
    /// The largest number of concurrent transfers per host and port, across all workers of a pool;
    /// 0 means unlimited.
    var fetchesPerHostMax = 64
    /// The largest number of concurrent jobs per worker, whatever the worker claims.
    var creditMax = PerKind(
        download: WorkerKind.download.creditMax, decode: WorkerKind.decode.creditMax,
        transform: WorkerKind.transform.creditMax, cache: WorkerKind.cache.creditMax)
    /// Class low gets at most 1/`lowShareDivisor` of the concurrent jobs of a kind, and at least
    /// one.
    var lowShareDivisor = 4
    /// The largest number of announced segments per worker; exceeding it ends the session.
    package var segmentsPerWorkerMax = 4_096

    /// Budgets for the finished output of one pool that is still in use, in bytes. A pool above its
    /// budget starts no job until output is released (SEMANTICS §9.5). The cache needs no such
    /// budget because it can evict. The defaults hold a few of the largest images.
    var outputBytesMax = PerKind<UInt64>(
        download: 256 << 20, decode: 512 << 20, transform: 256 << 20)

    /// The largest number of tracked suspects, that is, inputs suspected of crashing workers.
    var quarantineMax = 1_024
    /// How long a suspect is tracked, in milliseconds.
    var quarantineMilliseconds = 600_000
    /// The minimum time in milliseconds that a worker must hold a decode before a missed deadline
    /// counts as evidence against it.
    var overrunMilliseconds = 1_000
    /// The minimum time in milliseconds that a decoder or transformer must hold a job before the
    /// loss of the worker counts as evidence. Exhausting the memory of a process takes longer than
    /// this.
    var lossMilliseconds = 250

    /// The largest number of retries after transient transfer failures.
    var fetchRetriesMax = 2
    /// The delay before the first retry in milliseconds, ±25 %; doubled for each further retry.
    var fetchRetryMilliseconds = 200
    /// The longest `Retry-After` of an origin that is honored, in milliseconds. After a longer one
    /// the failure is reported at once, with the origin's value.
    var fetchRetryAfterMilliseconds = 2_000

    /// The largest time in milliseconds that a worker may hold a job. An earlier common deadline of
    /// all subscribers takes precedence, except for stores. The limits are generous because they
    /// are meant for hung workers, not slow ones. A transfer may take as long as the longest
    /// request.
    var jobMilliseconds = PerStage(
        store: 60_000, query: 10_000, fetch: RequestLimits.timeoutMillisecondsMax, decode: 60_000,
        transform: 60_000)
    /// The time limit in milliseconds for cache jobs that affect many entries. Trimming a million
    /// entries takes minutes, or a quarter of an hour on a file system with slow deletes.
    var severalEntriesMilliseconds = 3_600_000
    /// Milliseconds between a job's deadline and the `CancelJob` for a worker that did not stop by
    /// itself.
    var overdueMilliseconds = 500
    /// Milliseconds within which a canceled decode or transform must be answered; otherwise the
    /// worker loses its session (SEMANTICS §7.6: 500 ms until the worker exits by itself, plus 1
    /// s).
    var silenceMilliseconds = 1_500
    /// The same limit for the cache and download workers. It is longer because their sessions carry
    /// many jobs and the memory tier; a short stall of a disk or resolver must not cost the
    /// session.
    var sharedSilenceMilliseconds = 10_000
    /// The largest number of workers that may be lost with one job or with its output before it
    /// fails with `workerLost`. A decode or transform is quarantined earlier, after two.
    package var attemptsMax = 10
    /// The cost charged to a flow for a decoder or transformer that was lost with one of its jobs,
    /// in the unit of that stage. It corresponds to a large image, since others wait about as long
    /// for the replacement worker.
    var lostWorkerCost: UInt64 = 4 << 20
    /// Milliseconds after which a job that found no space is retried even without a release.
    var parkedMilliseconds = 100
    /// The number of bytes from which a release is sent to its producer at once, since other jobs
    /// may be waiting for the space. Smaller releases are sent with the next message.
    var promptReleaseBytes: UInt64 = 4 << 20
}

extension DispatchLimits {
    /// The largest number of concurrent jobs of a worker in the pool.
    func jobs(ofOneIn pool: PoolID) -> Int {
        Int(pools.all[pool.index].credit ?? creditMax[pools.kind(of: pool)] ?? 0)
    }

    /// The output budget of the pool in bytes; `nil` means unlimited.
    func outputBytes(of pool: PoolID) -> UInt64? {
        pools.all[pool.index].outputBytesMax ?? outputBytesMax[pools.kind(of: pool)]
            ?? (pools.isExternalCache(pool) ? Dispatcher.externalCacheOutputBytes : nil)
    }
}

extension DispatchLimits {
    /// The order of transfers of the same client and class.
    enum FetchOrder: String, Hashable, Sendable {
        /// Oldest first.
        case fifo
        /// Newest first (SEMANTICS §9.1).
        case lifo
    }
}

/// One value per kind of worker.
struct PerKind<Value: Hashable & Sendable>: Hashable, Sendable {
    /// The value for download workers.
    var download: Value
    /// The value for decode workers.
    var decode: Value
    /// The value for transform workers.
    var transform: Value
    /// The value for the cache, if it has one.
    var cache: Value?

    /// The value of a kind, if it has one.
    subscript(kind: WorkerKind) -> Value? {
        switch kind {
        case .download: download
        case .decode: decode
        case .transform: transform
        case .cache: cache
        case .coordinator: nil
        }
    }
}

/// One value per stage.
struct PerStage<Value: Hashable & Sendable>: Hashable, Sendable {
    /// The value for stores, including deliveries.
    var store: Value
    /// The value for cache queries.
    var query: Value
    /// The value for transfers.
    var fetch: Value
    /// The value for decodes.
    var decode: Value
    /// The value for transforms and encodes.
    var transform: Value

    /// The value of a stage.
    subscript(stage: JobStage) -> Value {
        switch stage {
        case .store: store
        case .query: query
        case .fetch: fetch
        case .decode: decode
        case .transform: transform
        }
    }
}
