import Messages

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
