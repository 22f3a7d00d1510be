/// What a cache process keeps, and how its disk is.
public struct CacheStatus: Hashable, Sendable {
    /// Whether the disk takes and gives entries.
    public enum DiskState: UInt8, Hashable, Sendable, CaseIterable {
        /// There is none: memory only.
        case none = 0
        /// It reads and writes.
        case healthy = 1
        /// It writes nothing, and reads what it can; tried again and again.
        case degraded = 2
    }

    /// Entries of the memory tier.
    public var memoryEntries: UInt64 = 0
    /// What they and results that are being delivered take.
    public var memoryBytes: UInt64 = 0
    /// Whether the disk works.
    public var disk = DiskState.none
    /// Why it does not; empty where it does.
    public var diskReason = ""
    /// Entries of the disk tier.
    public var diskEntries: UInt64 = 0
    /// What they take there.
    public var diskBytes: UInt64 = 0
    /// What lies beside them: the log of the index, and indexes that were set aside.
    public var diskOverheadBytes: UInt64 = 0
    /// The limit of both together; 0 for none.
    public var diskBytesMax: UInt64 = 0
    /// Entries that were found damaged and removed, since the process started.
    public var entriesLost: UInt64 = 0
    /// Indexes that were set aside and made anew, since the process started.
    public var indexesSetAside: UInt64 = 0
    /// Why the last of them was; empty where none was.
    public var indexReason = ""
    /// The version of the index before the process upgraded it; 0: it did not.
    public var indexUpgradedFrom: UInt64 = 0
    /// Stores that the disk did not take, since the process started.
    public var storesSkipped: UInt64 = 0
    /// The limit of the memory tier, bytes.
    public var memoryBytesMax: UInt64 = 0
    /// The limit of its entries; 0 for none.
    public var memoryEntriesMax: UInt64 = 0
    /// The limit of the entries of the disk tier; 0 for none.
    public var diskEntriesMax: UInt64 = 0
    /// Since when the disk is degraded, milliseconds since 1970; 0: it is not.
    public var degradedSince: UInt64 = 0
    /// Queries answered from memory; what the coordinator answers by itself is not among them.
    public var memoryHits: UInt64 = 0
    /// Queries answered from the disk, or from what is on its way there.
    public var diskHits: UInt64 = 0
    /// Queries that found nothing.
    public var misses: UInt64 = 0
    /// Bytes of bodies that were written to the disk.
    public var diskBytesWritten: UInt64 = 0
    /// How often the disk tier went down to its low-water mark.
    public var diskTrims: UInt64 = 0
    /// Entries that it let go of for its limits.
    public var diskEntriesTrimmed: UInt64 = 0
    /// Entries that it let go of for their age.
    public var diskEntriesExpired: UInt64 = 0
    /// Blocks of the memory tier that lost their keys.
    public var memoryEvictions: UInt64 = 0
    /// How often the memory tier went down to its low-water mark, since memory was short.
    public var memoryShrinks: UInt64 = 0
    /// How often the disk began to fail.
    public var diskFailures: UInt64 = 0
    /// Named caches that have entries or limits of their own, by name.
    public var caches: [NamedCacheStatus] = []
    /// Directories in which caches look for what they do not have themselves.
    public var readOnly: [ReadOnlyDirectory] = []

    /// Nothing, and no disk.
    public init() {}
}

/// What one named cache keeps, and may keep.
public struct NamedCacheStatus: Hashable, Sendable {
    /// Entries of one tier.
    public struct Usage: Hashable, Sendable {
        /// How many.
        public var entries: UInt64 = 0
        /// What they take, bytes.
        public var bytes: UInt64 = 0
        /// The cache's own limit of entries; 0 for none.
        public var entriesMax: UInt64 = 0
        /// The cache's own limit of bytes; 0 for none.
        public var bytesMax: UInt64 = 0

        /// Nothing, and no limits.
        package init() {}
    }

    /// Its name.
    public var name: String
    /// In memory.
    public var memory = Usage()
    /// On the disk.
    public var disk = Usage()
    /// Queries that it answered from memory, since the process started; what the coordinator
    /// answers by itself is not among them.
    public var memoryHits: UInt64 = 0
    /// Queries that it answered from its disk, from what is on its way there, or from a directory
    /// that is read only.
    public var diskHits: UInt64 = 0
    /// Queries to which it had nothing.
    public var misses: UInt64 = 0
    /// Blocks of its memory that lost their keys.
    public var memoryEvictions: UInt64 = 0

    /// Names a cache that has nothing.
    package init(name: String) { self.name = name }

    /// Caches of one status at most.
    public static let countMax = NamedCacheSettings.countMax
}
