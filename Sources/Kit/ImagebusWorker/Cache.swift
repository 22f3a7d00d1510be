import ImageModel
import Messages
import Sodium
import Wire

/// Keeps bytes under keys: what named caches of the configuration hold. SDWebImage's image cache.
///
/// `credit` calls run at a time, each on a thread of its own; one that nobody waits for is over at
/// once, and its thread may end when it will. Where more than 16 of these go on, the process ends.
///
/// Keys are texts of at most 12,289 bytes that differ between caches of one pool. What is kept
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
    /// nothing else. Not called if `scan` lists them.
    func keys() throws -> [String]?

    /// Some keys, about a thousand, and where to go on (0: these were the last ones). `after` is 0
    /// at first, then `next` of the call before, maybe to another process of the pool. A cache with
    /// many entries implements this instead of `keys`: others are served between the calls. `nil`
    /// where an author says nothing else.
    func scan(after: UInt64) throws -> (keys: [String], next: UInt64)?

    /// About how many keys there are: operators are told how far a removal is. `nil` where an
    /// author says nothing else.
    func count() throws -> Int?

    /// The first `length` bytes of what is under each key, and how many there are in all; `nil`
    /// where there is nothing. Asks `get` where an author says nothing else.
    func peek(_ keys: [String], length: Int) throws -> [CacheHead?]

    /// Removes all of these. Calls `remove` of each where an author says nothing else.
    func remove(_ keys: [String]) throws

    /// The origin has confirmed what is under a key: `expires` is in place of that of `put` from
    /// now on. It must not bring back what is gone. Does nothing where an author says nothing else.
    func extend(_ key: String, expires: Double?) throws
}

/// The beginning of what a cache keeps under a key.
public struct CacheHead: Sendable {
    /// Its first bytes.
    public let bytes: [UInt8]
    /// How many there are in all.
    public let size: Int

    /// The first of `size` bytes.
    public init(bytes: [UInt8], size: Int) { (self.bytes, self.size) = (bytes, size) }
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

    /// It cannot list them in steps.
    public func scan(after: UInt64) throws -> (keys: [String], next: UInt64)? { nil }

    /// It does not say.
    public func count() throws -> Int? { nil }

    /// Asks `get`.
    public func peek(_ keys: [String], length: Int) throws -> [CacheHead?] {
        try keys.map { key in
            try get(key).map { CacheHead(bytes: Array($0.prefix(length)), size: $0.count) }
        }
    }

    /// Removes one after the other.
    public func remove(_ keys: [String]) throws { for key in keys { try remove(key) } }

    /// Nothing depends on it.
    public func extend(_ key: String, expires: Double?) throws {}
}

/// What is kept under one key: the bytes of an image, and what the stack knows of them. The form is
/// that of `Examples/Python/imagebus_worker/records.py`: a mark, the length of the metadata, when
/// it was stored, a digest of metadata and bytes together, the metadata, the bytes.
struct CacheRecord {
    let metadata: StoredMetadata
    /// Milliseconds since 1970.
    let stored: UInt64
    /// Where the bytes of the image lie.
    let body: Range<Int>

    /// Bytes of an entry that are read first, to look at its metadata.
    static let peekByteCount = 4_096
    /// Bytes before the metadata.
    static let headByteCount = 32
    private static let mark = Array("IBC1".utf8)
    private static let digestByteCount = 16

    /// Makes one; `fill` writes the bytes of the image, as many as there are to be.
    static func packed(
        _ metadata: StoredMetadata, stored: UInt64, bodyByteCount: Int,
        fill: (UnsafeMutableRawBufferPointer) throws -> Void
    ) throws -> [UInt8] {
        let facts = try metadata.packed()
        let start = headByteCount + facts.count
        var data = [UInt8](repeating: 0, count: start + bodyByteCount)
        data.replaceSubrange(headByteCount..<start, with: facts)
        try data.withUnsafeMutableBytes { bytes in
            try fill(UnsafeMutableRawBufferPointer(rebasing: bytes[start...]))
        }
        let head =
            mark + littleEndian(UInt32(facts.count)) + littleEndian(stored) + (try digest(data))
        data.replaceSubrange(..<headByteCount, with: head)
        return data
    }

    /// `nil` for what no stack of this version has put there, or not as it is.
    init?(_ data: [UInt8]) throws {
        guard data.count >= Self.headByteCount, data.starts(with: Self.mark) else { return nil }
        let length = Int(Self.number(data[4..<8]))
        let start = Self.headByteCount + length
        guard start <= data.count, Array(data[16..<Self.headByteCount]) == (try Self.digest(data))
        else { return nil }
        let facts = data.span.bytes.extracting(Self.headByteCount..<start)
        do throws(WireError) {
            metadata = try StoredMetadata(packed: facts)
        } catch {
            return nil
        }
        stored = Self.number(data[8..<16])
        body = start..<data.count
    }

    /// What a cache keeps under a key whose first bytes are known. Where these have the whole
    /// metadata and are not all, nothing more is read, and the digest is not looked at.
    static func read(_ head: CacheHead, of key: String, in cache: some Cache) throws -> Self? {
        guard head.bytes.count < head.size else { return try Self(head.bytes) }
        if let record = Self(beginning: head) { return record }
        return try cache.get(key).flatMap { try Self($0) }
    }

    /// `nil` also if the whole metadata is not there.
    private init?(beginning head: CacheHead) {
        let bytes = head.bytes
        guard bytes.count >= Self.headByteCount, bytes.starts(with: Self.mark) else { return nil }
        let start = Self.headByteCount + Int(Self.number(bytes[4..<8]))
        guard start <= bytes.count else { return nil }
        let facts = bytes.span.bytes.extracting(Self.headByteCount..<start)
        do throws(WireError) {
            metadata = try StoredMetadata(packed: facts)
        } catch {
            return nil
        }
        stored = Self.number(bytes[8..<16])
        body = start..<head.size
    }

    /// Tells bytes that a store has damaged, or has only a part of; no secret is needed for it.
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
