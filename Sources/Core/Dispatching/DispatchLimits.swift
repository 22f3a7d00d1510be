import ImageModel
public import Messages

/// Every limit of jobs and workers.
public struct DispatchLimits: Hashable, Sendable {
    /// Who does the jobs, and what each pool is granted.
    public var pools = WorkerPools()
    /// Jobs that wait for one pool of workers. A query or fetch beyond it is `busy`, an original
    /// is not stored; later stages are bounded by the requests that they serve.
    public var queuedJobsMax = 16_384
    /// Cost of what waits in each stage; a request that would begin more is `busy`. Stores count in
    /// units of 4 KiB, decodes by the bytes of their sources, transforms by pixels, those for slow
    /// encoders several times; queries and transfers by number. Minutes of work for a small
    /// machine: beyond it, waiting is of no use.
    public var queuedCostMax = PerStage<UInt64>(
        store: (1 << 30) / 4_096, query: 16_384, fetch: 16_384, decode: 1 << 30,
        transform: 4_000_000_000)
    /// Who of a client's transfers in one class is next.
    public var fetchOrder = FetchOrder.fifo
    /// Transfers from one host and port at a time, all workers of a pool together; 0: no limit.
    public var fetchesPerHostMax = 64
    /// Jobs that a worker may hold at a time, whatever it claims.
    public var creditMax = CreditMaxima()
    /// Of the jobs that a kind takes at a time, class low gets at most one in so many, and at
    /// least one.
    public var lowShareDivisor = 4
    /// Segments that one worker may have announced; one more ends its session.
    public var segmentsPerWorkerMax = 4_096

    /// Bytes of finished output of one pool of workers that is still in use; a pool above it starts
    /// nothing new until some is released (SEMANTICS §9.5). The cache needs no such budget: it
    /// may evict.
    public var outputBytesMax = OutputBudgets()

    /// Suspects of killing workers that are remembered, and for how long.
    public var quarantineMax = 1_024
    /// See `quarantineMax`.
    public var quarantineMilliseconds = 600_000
    /// Milliseconds for which a worker has to hold a decode before it is evidence that it was not
    /// done in its time.
    public var overrunMilliseconds = 1_000
    /// Milliseconds for which a decoder or transformer has to hold a job before its loss is
    /// evidence: to fill the memory of a process takes longer.
    public var lossMilliseconds = 250

    /// Further attempts of a transfer that failed in passing.
    public var fetchRetriesMax = 2
    /// Milliseconds before the first of them, give or take a quarter; each further one waits twice
    /// as long as the one before.
    public var fetchRetryMilliseconds = 200
    /// The longest pause that an origin may ask for before the next of them, in milliseconds; after
    /// a longer one the failure is told at once, with what the origin said.
    public var fetchRetryAfterMilliseconds = 2_000

    /// Milliseconds for which a worker may hold a job; a shorter deadline of all waiters holds,
    /// too, except for stores. Generous: they are for workers that hang, not for slow ones. A
    /// transfer may take as long as the longest request.
    public var jobMilliseconds = PerStage(
        store: 60_000, query: 10_000, fetch: RequestLimits.timeoutMillisecondsMax, decode: 60_000,
        transform: 60_000)
    /// The same for a job of the cache about several entries: where there are a million, a trim
    /// takes minutes, on a file system that is slow to remove files a quarter of an hour.
    public var severalEntriesMilliseconds = 3_600_000
    /// Milliseconds between a job's deadline and the `CancelJob` for a worker that did not give
    /// up by itself.
    public var overdueMilliseconds = 500
    /// Milliseconds in which a cancelled decode or transform must be answered; a worker that is
    /// silent for longer loses its session (SEMANTICS §7.6: 500 ms until it ends itself, and 1 s
    /// more).
    public var silenceMilliseconds = 1_500
    /// The same for cache and download. Their sessions carry many jobs and the memory tier: a disk
    /// or a resolver that stalls for a moment is not worth losing them.
    public var sharedSilenceMilliseconds = 10_000
    /// Workers that may be lost with one job, or with what it made, before `workerLost`. A decode
    /// or transform is quarantined before that, after two.
    public var attemptsMax = 10
    /// What a flow owes for a decoder or transformer that was lost through one of its jobs, in the
    /// unit of that stage: as much as a large image, since others wait as long for the next worker.
    public var lostWorkerCost: UInt64 = 4 << 20
    /// Milliseconds after which a job that found no space tries again without a release.
    public var parkedMilliseconds = 100
    /// Bytes that become free together and of which their producer hears at once: others may wait
    /// for the space of its segment. Less can wait for the next message.
    public var promptReleaseBytes: UInt64 = 4 << 20

    /// What a small machine with a slow network does well with.
    public init() {}

    /// Bytes by kind of worker.
    public struct OutputBudgets: Hashable, Sendable {
        /// Fetched bodies.
        public var download: UInt64 = 256 << 20
        /// Pixels.
        public var decode: UInt64 = 512 << 20
        /// Encoded results.
        public var transform: UInt64 = 256 << 20

        /// A few of the largest images at a time.
        public init() {}

        /// Of one kind; `nil` where there is none.
        func bytes(_ kind: WorkerKind) -> UInt64? {
            switch kind {
            case .download: download
            case .decode: decode
            case .transform: transform
            case .cache, .coordinator: nil
            }
        }
    }
}

extension DispatchLimits {
    /// Jobs that a worker of the pool may hold at a time.
    func jobs(ofOneIn pool: PoolID) -> Int {
        pools.all[pool.index].credit.map { Int($0) } ?? creditMax.jobs(pools.kind(of: pool))
    }

    /// Bytes of finished output of the pool that may be in use; `nil`: as many as there are.
    func outputBytes(of pool: PoolID) -> UInt64? {
        pools.all[pool.index].outputBytesMax ?? outputBytesMax.bytes(pools.kind(of: pool))
            ?? (pools.isForeignCache(pool) ? Dispatcher.foreignCacheOutputBytes : nil)
    }

    /// Jobs that a worker may hold at a time, by kind.
    public struct CreditMaxima: Hashable, Sendable {
        /// Of a download worker.
        public var download = WorkerKind.download.creditMax
        /// Of the cache.
        public var cache = WorkerKind.cache.creditMax
        /// Of a decode worker.
        public var decode = WorkerKind.decode.creditMax
        /// Of a transform worker.
        public var transform = WorkerKind.transform.creditMax

        /// What the kinds take.
        public init() {}

        func jobs(_ kind: WorkerKind) -> Int {
            switch kind {
            case .coordinator: 0
            case .download: Int(download)
            case .cache: Int(cache)
            case .decode: Int(decode)
            case .transform: Int(transform)
            }
        }
    }
}

extension DispatchLimits {
    /// Of transfers of one client and class, who is next.
    public enum FetchOrder: String, Hashable, Sendable {
        /// The one that waits longest.
        case fifo
        /// The one that came last (SEMANTICS §9.1).
        case lifo
    }
}

/// One value for each stage.
public struct PerStage<Value: Hashable & Sendable>: Hashable, Sendable {
    /// Of stores, deliveries included.
    public var store: Value
    /// Of queries of a cache.
    public var query: Value
    /// Of transfers.
    public var fetch: Value
    /// Of decodes.
    public var decode: Value
    /// Of steps and encodes.
    public var transform: Value

    /// Names all of them.
    public init(store: Value, query: Value, fetch: Value, decode: Value, transform: Value) {
        (self.store, self.query, self.fetch) = (store, query, fetch)
        (self.decode, self.transform) = (decode, transform)
    }

    /// The value of one stage.
    public subscript(stage: JobStage) -> Value {
        switch stage {
        case .store: store
        case .query: query
        case .fetch: fetch
        case .decode: decode
        case .transform: transform
        }
    }
}
