import ImageModel
import Messages

// What a cache knows of the freshness of its entries beside their own records (SEMANTICS §6.7). An
// entry is never written again when its origin has confirmed it: that could bring back what was
// removed meanwhile, or replace what is newer. The words of the origin are a small record under a
// key of their own, which counts only beside an entry of the same bytes. The form is that of
// `Examples/Python/imagebus_worker/validity.py`.
extension CacheStage {
    /// What is known of an entry: the later one of two words of its origin counts.
    func validity(of key: String) throws -> JobResult {
        let (entry, confirmation) = try records(of: key)
        guard let metadata = entry?.metadata else { return .entry([]) }
        var validity = Validity(metadata)
        if let later = confirmation?.metadata, later.isOfSameBytes(as: validity),
            later.bornMilliseconds > metadata.bornMilliseconds
        {
            validity.caching = later.caching
        }
        return .validity(validity)
    }

    /// Whether there is an entry of those bytes, which is confirmed now. A later word of the origin
    /// stays.
    func renew(_ key: String, _ renewal: Validity?, _ now: UInt64) throws -> Bool {
        let (entry, confirmation) = try records(of: key)
        guard let renewal, var metadata = entry?.metadata, metadata.isOfSameBytes(as: renewal)
        else { return false }
        metadata.caching = renewal.caching
        if let known = confirmation?.metadata, known.isOfSameBytes(as: renewal),
            known.bornMilliseconds > metadata.bornMilliseconds
        {
            return true
        }
        let expires = renewal.expiry.map { Double($0.lastUse) / 1_000 }
        try cache.extend(key, expires: expires)
        let data = try CacheRecord.packed(metadata, stored: now, bodyByteCount: 0) { _ in }
        return try cache.put(ValidityKey.of(key), data, expires: expires)
    }

    private func records(
        of key: String
    ) throws -> (entry: CacheRecord?, confirmation: CacheRecord?) {
        let keys = [key, ValidityKey.of(key)]
        let heads = try cache.peek(keys, length: CacheRecord.peekByteCount)
        guard heads.count == keys.count else { return (nil, nil) }
        let records = try zip(keys, heads).map { key, head in
            try head.flatMap { try CacheRecord.read($0, of: key, in: cache) }
        }
        return (records[0], records[1])
    }
}

/// The key of what confirms an entry: no stored text ends like it.
enum ValidityKey {
    private static let end = Unicode.Scalar(0x1D as UInt8)

    /// Of the entry under a key.
    static func of(_ key: String) -> String { key + String(end) }

    /// The key of the entry; `nil` where it is one itself.
    static func entry(of key: String) -> String? {
        key.unicodeScalars.last == end ? String(key.unicodeScalars.dropLast()) : nil
    }
}

extension StoredMetadata {
    /// When what the origin says of caching was said; -1: never.
    fileprivate var bornMilliseconds: Int64 { caching?.age.bornMilliseconds ?? -1 }

    fileprivate func isOfSameBytes(as validity: Validity) -> Bool {
        etag == validity.etag && lastModified == validity.lastModified
    }
}
