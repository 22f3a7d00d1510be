import ImageModel

/// Keeps bytes under keys: what named caches of the configuration hold. SDWebImage's image cache.
///
/// `credit` calls run at a time, each on a thread of its own; one that nobody waits for is over at
/// once, and its thread may end when it will. Where more than 16 of these go on, the process ends.
///
/// Keys are texts of at most 12,288 bytes that differ between caches of one pool. What is kept
/// under one is opaque: the bytes of an image, and what the stack knows of them, in the form that
/// the Python kit has as well, so that caches of both can share a store. What a function throws is
/// a miss for a load, and for who removes something `internalError`, unless it is ``Failure`` or
/// `ImageError`.
public protocol Cache: Sendable {
    /// Calls at a time, from 1 to 256; 16 where an author says nothing else. `credit` of the pool
    /// may be less.
    var credit: Int { get }

    /// What `put` was given last, or nothing.
    func get(_ key: String) throws -> [UInt8]?

    /// Keeps it, in place of what was there, as long as it likes. `expires`: seconds since 1970
    /// from which on the origin permits no use; `nil`: it said nothing. `false`: it is not kept,
    /// nor what was there.
    func put(_ key: String, _ data: [UInt8], expires: Double?) throws -> Bool

    /// Once this returns, `get` does not find it.
    func remove(_ key: String) throws

    /// Whether `get` would find it; asks `get` where an author says nothing else.
    func contains(_ key: String) throws -> Bool

    /// Removes all keys. `notSupported` where an author says nothing else; not called where `keys`
    /// says them.
    func clear() throws

    /// All keys, where it can say them: then entries are removed by URL, prefix, tag and age as
    /// well. Keys that come and go meanwhile may be among them or not. `nil` where an author says
    /// nothing else.
    func keys() throws -> [String]?
}

extension Cache {
    /// Sixteen.
    public var credit: Int { 16 }

    /// Asks `get`.
    public func contains(_ key: String) throws -> Bool { try get(key) != nil }

    /// It cannot.
    public func clear() throws {
        throw ImageError(.notSupported, "this cache removes one key at a time")
    }

    /// It cannot say them.
    public func keys() throws -> [String]? { nil }
}
