internal import CSodium

/// A digest of bytes that come in parts: BLAKE2b (`crypto_generichash`), without a key.
///
/// Names contents: nobody finds other bytes with the same digest of 32 bytes. One thread.
public final class BLAKE2bDigest {
    private let memory: UnsafeMutableRawPointer
    private let state: OpaquePointer

    private let byteCount: Int

    /// Of no bytes yet; the digest has `byteCount` bytes, 16 to 64.
    ///
    /// - Throws: `.unavailable`
    public init(byteCount: Int = 32) throws(SodiumError) {
        precondition((16...64).contains(byteCount), "BLAKE2b has no such digest")
        guard isReady else { throw .unavailable }
        self.byteCount = byteCount
        // The state is aligned more strictly than Swift allocates by itself.
        memory = .allocate(
            byteCount: crypto_generichash_statebytes(), alignment: 64)
        state = OpaquePointer(memory)
        crypto_generichash_init(state, nil, 0, byteCount)
    }

    deinit { memory.deallocate() }

    /// Adds bytes at the end.
    public func update(_ bytes: [UInt8]) {
        bytes.withUnsafeBufferPointer {
            _ = crypto_generichash_update(state, $0.baseAddress, UInt64($0.count))
        }
    }

    /// Adds bytes at the end.
    public func update(_ bytes: RawSpan) {
        bytes.withUnsafeBytes {
            _ = crypto_generichash_update(
                state, $0.bindMemory(to: UInt8.self).baseAddress, UInt64($0.count))
        }
    }

    /// The bytes of the digest. The last call.
    public func finishBytes() -> [UInt8] {
        var digest = [UInt8](repeating: 0, count: byteCount)
        crypto_generichash_final(state, &digest, digest.count)
        return digest
    }

    /// Two lowercase hex digits for each of its bytes. The last call.
    public func finish() -> String {
        let digest = finishBytes()
        let digits = Array("0123456789abcdef".utf8)
        return String(
            decoding: digest.flatMap { [digits[Int($0 >> 4)], digits[Int($0 & 15)]] },
            as: UTF8.self)
    }
}
