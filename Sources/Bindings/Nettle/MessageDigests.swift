internal import CNettle

/// SHA-256 (FIPS 180-4) by the fastest code that the library has for the processor.
public enum SHA256 {
    /// Bytes of a digest.
    public static let byteCount = Int(SHA256_DIGEST_SIZE)

    /// The digest of some bytes.
    public static func digest(_ bytes: RawSpan) -> [UInt8] {
        var state = sha256_ctx()
        nettle_sha256_init(&state)
        bytes.withUnsafeBytes { bytes in
            // The library reads no address of no bytes.
            guard let base = bytes.baseAddress else { return }
            nettle_sha256_update(&state, bytes.count, base.assumingMemoryBound(to: UInt8.self))
        }
        return [UInt8](unsafeUninitializedCapacity: byteCount) { digest, count in
            nettle_sha256_digest(&state, byteCount, digest.baseAddress)
            count = byteCount
        }
    }
}

/// Codes that only those can make who have the key (RFC 2104).
public enum HMAC: Hashable, Sendable {
    /// Over SHA-1 (FIPS 198-1): no longer for new uses, but whole here.
    case sha1
    /// Over SHA-256.
    case sha256

    /// Bytes of a code.
    public var byteCount: Int {
        switch self {
        case .sha1: Int(SHA1_DIGEST_SIZE)
        case .sha256: Int(SHA256_DIGEST_SIZE)
        }
    }

    /// The code of some bytes in several parts, as if they were one.
    public func code(of parts: [[UInt8]], key: [UInt8]) -> [UInt8] {
        switch self {
        case .sha1: Self.sha1Code(of: parts, key: key)
        case .sha256: Self.sha256Code(of: parts, key: key)
        }
    }

    private static func sha1Code(of parts: [[UInt8]], key: [UInt8]) -> [UInt8] {
        var state = hmac_sha1_ctx()
        // The library reads no address of no bytes.
        key.withUnsafeBufferPointer { nettle_hmac_sha1_set_key(&state, $0.count, $0.baseAddress) }
        for part in parts where !part.isEmpty {
            part.withUnsafeBufferPointer {
                nettle_hmac_sha1_update(&state, $0.count, $0.baseAddress)
            }
        }
        let byteCount = HMAC.sha1.byteCount
        return [UInt8](unsafeUninitializedCapacity: byteCount) { code, count in
            nettle_hmac_sha1_digest(&state, byteCount, code.baseAddress)
            count = byteCount
        }
    }

    private static func sha256Code(of parts: [[UInt8]], key: [UInt8]) -> [UInt8] {
        var state = hmac_sha256_ctx()
        key.withUnsafeBufferPointer {
            nettle_hmac_sha256_set_key(&state, $0.count, $0.baseAddress)
        }
        for part in parts where !part.isEmpty {
            part.withUnsafeBufferPointer {
                nettle_hmac_sha256_update(&state, $0.count, $0.baseAddress)
            }
        }
        let byteCount = HMAC.sha256.byteCount
        return [UInt8](unsafeUninitializedCapacity: byteCount) { code, count in
            nettle_hmac_sha256_digest(&state, byteCount, code.baseAddress)
            count = byteCount
        }
    }
}

/// Comparison of what strangers send with what only we can know.
public enum SecretBytes {
    /// Whether both have the same length and the same bytes (`memeql_sec`): only the length shows
    /// in the time that it takes.
    public static func areEqual(_ left: [UInt8], _ right: [UInt8]) -> Bool {
        guard left.count == right.count else { return false }
        return left.withUnsafeBytes { left in
            right.withUnsafeBytes { right in
                guard let first = left.baseAddress, let second = right.baseAddress else {
                    return true
                }
                return nettle_memeql_sec(first, second, left.count) == 1
            }
        }
    }
}
