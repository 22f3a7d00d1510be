/// What the cache worker holds and did, for status.
public struct CacheStatistics: Sendable, Hashable {
    /// Entries with a key in the memory tier.
    public var memoryEntries = 0
    /// Bytes of the memory tier and of what is being delivered.
    public var memoryBytes = 0
    /// Bytes that receivers have not released yet.
    public var heldBytes = 0
    /// Blocks staged for decoders.
    public var stagedBlocks = 0
    /// Bodies that wait for the disk.
    public var writeBehindCount = 0
    /// Their bytes.
    public var writeBehindBytes = 0
    /// Stores that skipped the disk since the write-behind was full.
    public var writeBehindSkipped: UInt64 = 0
    /// Stores that the disk did not take.
    public var diskSkipped: UInt64 = 0
    /// Queries answered from memory.
    public var memoryHits: UInt64 = 0
    /// Queries answered from the disk, or on the way there.
    public var diskHits: UInt64 = 0
    /// Queries that found nothing.
    public var misses: UInt64 = 0
    /// Blocks that lost their keys.
    public var evictions: UInt64 = 0
    /// How often the memory tier went down to its low-water mark since memory was short.
    public var memoryShrinks: UInt64 = 0
    /// The limit of the memory tier, bytes.
    public var memoryBytesMax = 0
    /// The limit of its entries; 0 for none.
    public var memoryCountMax = 0
    /// The limit of the disk tier, bytes; 0 for none.
    public var diskBytesMax = 0
    /// The limit of its entries; 0 for none.
    public var diskCountMax = 0
    /// Named caches.
    public var caches: [String: Named] = [:]

    /// What a named cache has, and may have.
    public struct Named: Sendable, Hashable {
        /// In memory.
        public var memory = ShareUsage(entries: 0, bytes: 0)
        /// On the disk, as of about a second ago.
        public var disk = ShareUsage(entries: 0, bytes: 0)
        /// Of its own.
        public var memoryLimits = ShareLimits()
        /// Of its own.
        public var diskLimits = ShareLimits()
        /// What it was asked.
        public var queries = CacheQueries()
        /// Blocks of its memory that lost their keys.
        public var evictions: UInt64 = 0
    }

    /// Where caches look for what they do not have themselves.
    public var directories: [Directory] = []

    /// A directory in which nothing is changed.
    public struct Directory: Sendable, Hashable {
        /// Whose it is; empty: the default cache's.
        public var cache: String
        /// Where it is.
        public var path: String
        /// Why nothing is found there, and what helps; empty where it can be used.
        public var reason: String
        /// Queries that were answered from it.
        public var hits: UInt64
        /// Entries that were not what their index says.
        public var damaged: UInt64
    }

    /// The disk tier as of its last answer; `nil` where there is none, or before the first.
    public var disk: DiskStatus?
}

/// What one named cache was asked, and had; since the process started.
public struct CacheQueries: Sendable, Hashable {
    /// Queries that it answered from memory.
    public var memoryHits: UInt64 = 0
    /// Queries that it answered from the disk.
    public var diskHits: UInt64 = 0
    /// Queries to which it had nothing.
    public var misses: UInt64 = 0

    /// None.
    public init() {}
}
