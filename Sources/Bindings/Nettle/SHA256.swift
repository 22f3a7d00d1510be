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
