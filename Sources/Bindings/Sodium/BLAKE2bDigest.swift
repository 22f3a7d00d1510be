internal import CSodium

/// A digest of bytes that come in parts: BLAKE2b-256 (`crypto_generichash`), without a key.
///
/// Names contents: nobody finds other bytes with the same digest. One thread.
public final class BLAKE2bDigest {
    private let memory: UnsafeMutableRawPointer
    private let state: OpaquePointer

    private static let byteCount = 32

    /// Of no bytes yet.
    ///
    /// - Throws: `.unavailable`
    public init() throws(SodiumError) {
        guard isReady else { throw .unavailable }
        // The state is aligned more strictly than Swift allocates by itself.
        memory = .allocate(
            byteCount: crypto_generichash_statebytes(), alignment: 64)
        state = OpaquePointer(memory)
        crypto_generichash_init(state, nil, 0, Self.byteCount)
    }

    deinit { memory.deallocate() }

    /// Adds bytes at the end.
    public func update(_ bytes: [UInt8]) {
        bytes.withUnsafeBufferPointer {
            _ = crypto_generichash_update(state, $0.baseAddress, UInt64($0.count))
        }
    }

    /// 64 lowercase hex digits. The last call.
    public func finish() -> String {
        var digest = [UInt8](repeating: 0, count: Self.byteCount)
        crypto_generichash_final(state, &digest, digest.count)
        let digits = Array("0123456789abcdef".utf8)
        return String(
            decoding: digest.flatMap { [digits[Int($0 >> 4)], digits[Int($0 & 15)]] },
            as: UTF8.self)
    }
}
