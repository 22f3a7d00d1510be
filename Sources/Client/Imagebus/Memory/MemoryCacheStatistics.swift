/// What a client keeps in its process, and what came of it since it began.
public struct MemoryCacheStatistics: Hashable, Sendable {
    /// Entries now.
    public internal(set) var entries = 0
    /// What they cost now: the memory of their bytes, and `MemoryCacheLimits.entryBytes` each.
    public internal(set) var bytes = 0
    /// Answers that were given.
    public internal(set) var hits = 0
    /// Requests that had no entry, or one that did not stand any more.
    public internal(set) var misses = 0
    /// Entries that were made, new ones and in the place of old ones.
    public internal(set) var stores = 0
    /// Entries that made room for others.
    public internal(set) var evictions = 0
    /// Entries whose voucher had fallen, or whose time was over, when they were asked for.
    public internal(set) var withdrawals = 0
}
