import ImageModel
import Messages
import Sodium
import Wire

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
