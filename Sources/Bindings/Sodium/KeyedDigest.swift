internal import CSodium

/// Digests under a secret key: BLAKE2b-128 with a 32-byte key (`crypto_generichash`).
///
/// Without the key nobody can compute the digest of a guess, so a digest of credentials may stand
/// in a cache key. The key lies in guarded memory that is wiped in the deinit.
public struct KeyedDigest: ~Copyable {
    /// The length of a key, bytes.
    public static let keyLength = 32

    private let key: UnsafeMutableRawPointer

    /// Copies the key; the caller wipes its own copy.
    ///
    /// - Throws: `.keyLength` where it has not `keyLength` bytes; `.unavailable`, `.outOfMemory`.
    public init(key bytes: [UInt8]) throws(SodiumError) {
        guard isReady else { throw .unavailable }
        guard bytes.count == Self.keyLength else { throw .keyLength(bytes.count) }
        guard let memory = sodium_malloc(Self.keyLength) else { throw .outOfMemory }
        memory.copyMemory(from: bytes, byteCount: Self.keyLength)
        sodium_mprotect_readonly(memory)
        key = memory
    }

    deinit {
        // Wipes before it frees.
        sodium_free(key)
    }

    /// The digest of all the bytes.
    public borrowing func digest(_ bytes: UnsafeRawBufferPointer) -> Digest128 {
        Digest128 { output in
            // It fails only for lengths outside its limits, and those are constants here; the
            // output has 16 bytes, so its address is never nil.
            crypto_generichash(
                output.baseAddress!, output.count, bytes.baseAddress, UInt64(bytes.count),
                key, Self.keyLength)
        }
    }

    /// The digest of a text's UTF-8 bytes.
    public borrowing func digest(_ text: String) -> Digest128 {
        var text = text
        return text.withUTF8 { digest(UnsafeRawBufferPointer($0)) }
    }
}
