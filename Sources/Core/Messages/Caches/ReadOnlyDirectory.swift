/// A cache directory of another stack in which a cache looks for what it does not have itself, and
/// in which it changes nothing (SEMANTICS §5.18).
public struct ReadOnlyDirectory: Hashable, Sendable {
    /// The cache that looks there; empty: the default one.
    public var cache: String
    /// Where it is, for the process of the cache.
    public var path: String
    /// Why nothing is found there, and what helps; empty where it can be used.
    public var reason = ""
    /// Queries that were answered from it, since the process started.
    public var hits: UInt64 = 0
    /// Entries that were not what their index says, since the process started.
    public var damaged: UInt64 = 0

    /// Names a directory that can be used, as far as is known.
    package init(cache: String, path: String) { (self.cache, self.path) = (cache, path) }

    /// Directories of one cache at most.
    public static let countMax = 8
    /// Directories of all caches together at most.
    public static let totalMax = 64
}
