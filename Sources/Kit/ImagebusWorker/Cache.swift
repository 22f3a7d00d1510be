import Model
import Sodium
import Wire

/// Stores bytes under keys, as the storage of named caches in the configuration. Corresponds to
/// SDWebImage's image cache.
///
/// Up to `credit` calls run concurrently, each on its own thread. A canceled call ends immediately
/// for its caller, and its thread may finish later. If more than 16 canceled calls are still
/// running, the process exits.
///
/// A key is a text of at most 12,289 bytes; caches that share a pool never share a key. The value
/// is opaque: it contains the bytes of an image and the stack's metadata, in a format that the
/// Python SDK also uses, so that caches of both kinds can share a store. A thrown error counts as a
/// miss for a load. For a removal it is reported as `internalError`, unless it is ``Failure`` or
/// `ImageError`.
public protocol Cache: Sendable {
    /// The number of concurrent calls, from 1 to 256. The default is 16. The pool's `credit`
    /// setting may reduce it.
    var credit: Int { get }

    /// Returns the value last passed to `put`, or `nil`.
    func get(_ key: String) throws -> [UInt8]?

    /// Stores a value, replacing the previous one, for as long as the cache chooses. `expires` is
    /// the time in seconds since 1970 after which the origin forbids use, or `nil` if the origin
    /// didn't specify one. Returns `false` if neither the value nor the previous one is stored.
    func put(_ key: String, _ data: [UInt8], expires: Double?) throws -> Bool

    /// Removes a key. Once this returns, `get` must not find it.
    func remove(_ key: String) throws

    /// Whether `get` would find the key. The default calls `get`.
    func contains(_ key: String) throws -> Bool

    /// Removes all keys. The default throws `notSupported`. Not called if `keys` returns the keys.
    func clear() throws

    /// Returns all keys, or `nil` (the default) if they can't be listed. Listing them enables
    /// removal by URL, prefix, tag and age. Keys added or removed concurrently may or may not be
    /// included. Not called if `scan` lists them.
    func keys() throws -> [String]?

    /// Returns some keys, about a thousand, and where to continue, or 0 after the last ones.
    /// `after` is 0 for the first call, then `next` of the previous call, which may have been made
    /// in another process of the pool. Implement this instead of `keys` for a cache with many
    /// entries, so that other calls are served in between. The default returns `nil`.
    func scan(after: UInt64) throws -> (keys: [String], next: UInt64)?

    /// Returns the approximate number of keys, used to report the progress of a removal to
    /// operators. The default returns `nil`.
    func count() throws -> Int?

    /// Returns the first `length` bytes and the total size of each key's value; `nil` for a key
    /// without a value. The default calls `get`.
    func peek(_ keys: [String], length: Int) throws -> [CacheHead?]

    /// Removes several keys. The default calls `remove` for each.
    func remove(_ keys: [String]) throws

    /// Records that the origin has confirmed the value: `expires` replaces the time passed to
    /// `put`. Must not restore a removed value. The default does nothing.
    func extend(_ key: String, expires: Double?) throws
}

/// The first bytes of a cached value.
public struct CacheHead: Sendable {
    /// The first bytes.
    public let bytes: [UInt8]
    /// The total size in bytes.
    public let size: Int

    /// Creates a head from the first bytes of a value of `size` bytes.
    public init(bytes: [UInt8], size: Int) { (self.bytes, self.size) = (bytes, size) }
}

extension Cache {
    /// The default of 16 concurrent calls.
    public var credit: Int { 16 }

    /// Calls `get`.
    public func contains(_ key: String) throws -> Bool { try get(key) != nil }

    /// Throws `notSupported`.
    public func clear() throws {
        throw ImageError(.notSupported, "this cache supports only the removal of single keys")
    }

    /// Returns `nil`: the keys can't be listed.
    public func keys() throws -> [String]? { nil }

    /// Returns `nil`: the keys can't be listed in steps.
    public func scan(after: UInt64) throws -> (keys: [String], next: UInt64)? { nil }

    /// Returns `nil`: the number is not known.
    public func count() throws -> Int? { nil }

    /// Calls `get` for each key.
    public func peek(_ keys: [String], length: Int) throws -> [CacheHead?] {
        try keys.map { key in
            try get(key).map { CacheHead(bytes: Array($0.prefix(length)), size: $0.count) }
        }
    }

    /// Removes the keys one by one, up to the first failure.
    public func remove(_ keys: [String]) throws { for key in keys { try remove(key) } }

    /// Does nothing.
    public func extend(_ key: String, expires: Double?) throws {}
}

/// A cached value: the bytes of an image and the stack's metadata. The format is that of
/// `Examples/Python/imagebus_worker/records.py`: a magic number, the length of the metadata, the
/// time of storage, a digest of metadata and bytes, the metadata, and the bytes.
struct CacheRecord {
    let metadata: StoredMetadata
    /// The time of storage in milliseconds since 1970.
    let stored: UInt64
    /// The range of the image's bytes.
    let body: Range<Int>

    /// The number of bytes read first to examine an entry's metadata.
    static let peekByteCount = 4_096
    /// The number of bytes before the metadata.
    static let headByteCount = 32
    private static let mark = Array("IBC1".utf8)
    private static let digestByteCount = 16

    /// Encodes a record; `fill` writes the bytes of the image into a buffer of `bodyByteCount`
    /// bytes.
    static func packed(
        _ metadata: StoredMetadata, stored: UInt64, bodyByteCount: Int,
        fill: (UnsafeMutableRawBufferPointer) throws -> Void
    ) throws -> [UInt8] {
        let properties = try metadata.packed()
        let start = headByteCount + properties.count
        var data = [UInt8](repeating: 0, count: start + bodyByteCount)
        data.replaceSubrange(headByteCount..<start, with: properties)
        try data.withUnsafeMutableBytes { bytes in
            try fill(UnsafeMutableRawBufferPointer(rebasing: bytes[start...]))
        }
        let head =
            mark + littleEndian(UInt32(properties.count)) + littleEndian(stored)
            + (try digest(data))
        data.replaceSubrange(..<headByteCount, with: head)
        return data
    }

    /// Decodes a record. Returns `nil` for data that is damaged or was not stored by a stack of
    /// this version.
    init?(_ data: [UInt8]) throws {
        guard let record = Self(beginning: CacheHead(bytes: data, size: data.count)),
            Array(data[16..<Self.headByteCount]) == (try Self.digest(data))
        else { return nil }
        self = record
    }

    /// Reads a record whose first bytes are known. If these contain all the metadata but not all
    /// the bytes, nothing more is read and the digest is not verified.
    static func read(_ head: CacheHead, of key: String, in cache: some Cache) throws -> Self? {
        guard head.bytes.count < head.size else { return try Self(head.bytes) }
        if let record = Self(beginning: head) { return record }
        return try cache.get(key).flatMap { try Self($0) }
    }

    /// Decodes the metadata from the beginning of a record, whose digest is not verified. Returns
    /// `nil` if it is incomplete or was not stored by a stack of this version.
    private init?(beginning head: CacheHead) {
        let bytes = head.bytes
        guard bytes.count >= Self.headByteCount, bytes.starts(with: Self.mark) else { return nil }
        let start = Self.headByteCount + Int(Self.number(bytes[4..<8]))
        guard start <= bytes.count else { return nil }
        let properties = bytes.span.bytes.extracting(Self.headByteCount..<start)
        guard let metadata = try? StoredMetadata(packed: properties) else { return nil }
        self.metadata = metadata
        stored = Self.number(bytes[8..<16])
        body = start..<head.size
    }

    /// Computes a digest that detects damaged or truncated values. It is not keyed, because it does
    /// not protect against attacks.
    private static func digest(_ data: [UInt8]) throws(SodiumError) -> [UInt8] {
        let digest = try BLAKE2bDigest(byteCount: digestByteCount)
        digest.update(data.span.bytes.extracting(headByteCount..<data.count))
        return digest.finishBytes()
    }

    private static func littleEndian(_ number: some FixedWidthInteger) -> [UInt8] {
        (0..<number.bitWidth / 8).map { UInt8(truncatingIfNeeded: number >> ($0 * 8)) }
    }

    private static func number(_ bytes: ArraySlice<UInt8>) -> UInt64 {
        bytes.reversed().reduce(0) { $0 << 8 | UInt64($1) }
    }
}
