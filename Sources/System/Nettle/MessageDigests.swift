internal import CNettle

/// SHA-256 (FIPS 180-4), using the fastest code the library has for this processor.
public enum SHA256 {
    /// The size of a digest in bytes.
    public static let byteCount = Int(SHA256_DIGEST_SIZE)

    /// Returns the digest of the bytes, of `byteCount` bytes.
    public static func digest(_ bytes: RawSpan) -> [UInt8] {
        var state = sha256_ctx()
        nettle_sha256_init(&state)
        bytes.withUnsafeBytes { bytes in
            // The library isn't called without bytes, since the address would be null.
            guard let base = bytes.baseAddress else { return }
            nettle_sha256_update(&state, bytes.count, base.assumingMemoryBound(to: UInt8.self))
        }
        return [UInt8](unsafeUninitializedCapacity: byteCount) { digest, count in
            nettle_sha256_digest(&state, byteCount, digest.baseAddress)
            count = byteCount
        }
    }
}

/// Message authentication codes, which require the key to create (RFC 2104).
public enum HMAC: String, Hashable, Sendable {
    /// With SHA-1 (FIPS 198-1): not for new uses, but still secure in HMAC.
    case sha1
    /// With SHA-256.
    case sha256
    /// With SHA-512.
    case sha512

    /// The size of a code in bytes.
    public var byteCount: Int {
        switch self {
        case .sha1: Int(SHA1_DIGEST_SIZE)
        case .sha256: Int(SHA256_DIGEST_SIZE)
        case .sha512: Int(SHA512_DIGEST_SIZE)
        }
    }

    /// Returns the code of the concatenated parts.
    public func code(of parts: [[UInt8]], key: [UInt8]) -> [UInt8] {
        switch self {
        case .sha1:
            code(
                parts, key, hmac_sha1_ctx(), nettle_hmac_sha1_set_key, nettle_hmac_sha1_update,
                nettle_hmac_sha1_digest)
        case .sha256:
            code(
                parts, key, hmac_sha256_ctx(), nettle_hmac_sha256_set_key,
                nettle_hmac_sha256_update, nettle_hmac_sha256_digest)
        case .sha512:
            code(
                parts, key, hmac_sha512_ctx(), nettle_hmac_sha512_set_key,
                nettle_hmac_sha512_update, nettle_hmac_sha512_digest)
        }
    }

    private typealias Input<State> = (
        UnsafeMutablePointer<State>?, Int, UnsafePointer<UInt8>?
    ) -> Void
    private typealias Output<State> = (
        UnsafeMutablePointer<State>?, Int, UnsafeMutablePointer<UInt8>?
    ) -> Void

    private func code<State>(
        _ parts: [[UInt8]], _ key: [UInt8], _ state: State, _ setKey: Input<State>,
        _ update: Input<State>, _ digest: Output<State>
    ) -> [UInt8] {
        var state = state
        // The library doesn't read the address if there are no bytes.
        setKey(&state, key.count, key)
        for part in parts where !part.isEmpty { update(&state, part.count, part) }
        return [UInt8](unsafeUninitializedCapacity: byteCount) { code, count in
            digest(&state, byteCount, code.baseAddress)
            count = byteCount
        }
    }
}

/// Comparison of untrusted input with secrets.
public enum SecretBytes {
    /// Whether both have the same length and bytes (`memeql_sec`). The duration only depends on the
    /// length.
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
