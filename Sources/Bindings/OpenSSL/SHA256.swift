internal import COpenSSL

/// SHA-256 (FIPS 180-4) by the fastest code that the library has for the processor.
public enum SHA256 {
    /// Bytes of a digest.
    public static let byteCount = 32

    /// Fetched once: a look-up by name takes longer than the digest of a small image. No file of the
    /// library's configuration is read for it.
    private nonisolated(unsafe) static let algorithm: OpaquePointer? = {
        guard OPENSSL_init_crypto(UInt64(OPENSSL_INIT_NO_LOAD_CONFIG), nil) == 1 else { return nil }
        return EVP_MD_fetch(nil, "SHA2-256", nil)
    }()

    /// The digest of some bytes. Throws `failed` where the library has no memory.
    public static func digest(_ bytes: RawSpan) throws(OpenSSLError) -> [UInt8] {
        guard let algorithm else { throw .failed }
        var digest = [UInt8](repeating: 0, count: byteCount)
        let code = bytes.withUnsafeBytes { bytes in
            EVP_Digest(bytes.baseAddress, bytes.count, &digest, nil, algorithm, nil)
        }
        guard code == 1 else { throw .failed }
        return digest
    }
}
