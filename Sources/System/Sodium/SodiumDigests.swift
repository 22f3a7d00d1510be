internal import CSodium

/// Whether the library is usable. It's initialized once per process on first use (`sodium_init` is
/// thread-safe and returns 1 if other code, such as libzmq, has initialized it already).
///
/// Initialization only fails if the kernel provides no random numbers; then no key may be
/// generated.
let isReady: Bool = sodium_init() >= 0

/// Why a keyed digest couldn't be created.
public enum SodiumError: Error, Sendable, Hashable {
    /// The kernel provides no random numbers.
    case unavailable
    /// The key's length isn't `KeyedDigest.keyLength`.
    case keyLength(Int)
    /// Out of memory for the key.
    case outOfMemory
}

/// Computes digests with a secret key: BLAKE2b-128 with a 32-byte key (`crypto_generichash`).
///
/// Without the key, guesses can't be verified against a digest, so a digest of credentials may be
/// part of a cache key. The key is in guarded memory, which is wiped on deinit.
public struct KeyedDigest: ~Copyable {
    /// The key length in bytes.
    public static let keyLength = 32

    private let key: UnsafeMutableRawPointer

    /// Copies the key. The caller is responsible for wiping its own copy.
    ///
    /// - Throws: `.keyLength` unless it has `keyLength` bytes; `.unavailable`, `.outOfMemory`.
    public init(key bytes: [UInt8]) throws(SodiumError) {
        guard isReady else { throw .unavailable }
        guard bytes.count == Self.keyLength else { throw .keyLength(bytes.count) }
        guard let memory = sodium_malloc(Self.keyLength) else { throw .outOfMemory }
        memory.copyMemory(from: bytes, byteCount: Self.keyLength)
        sodium_mprotect_readonly(memory)
        key = memory
    }

    deinit {
        // Wipes the memory before freeing it.
        sodium_free(key)
    }

    /// Returns the digest of the bytes.
    public borrowing func digest(_ bytes: UnsafeRawBufferPointer) -> Digest128 {
        Digest128 { output in
            // This only fails for lengths out of range, which are constants here. The output has 16
            // bytes, so its address is never nil.
            crypto_generichash(
                output.baseAddress!, output.count, bytes.baseAddress, UInt64(bytes.count),
                key, Self.keyLength)
        }
    }

    /// Returns the digest of a text's UTF-8 bytes.
    public borrowing func digest(_ text: String) -> Digest128 {
        var text = text
        return text.withUTF8 { digest(UnsafeRawBufferPointer($0)) }
    }
}

/// A 16-byte digest that's compared in constant time.
public struct Digest128: Sendable, Equatable, CustomStringConvertible {
    /// The length in bytes.
    public static let length = 16

    private let halves: (UInt64, UInt64)

    init(filledBy body: (UnsafeMutableRawBufferPointer) -> Void) {
        var halves: (UInt64, UInt64) = (0, 0)
        withUnsafeMutableBytes(of: &halves, body)
        self.halves = halves
    }

    /// Compares in constant time.
    public static func == (left: Digest128, right: Digest128) -> Bool {
        withUnsafeBytes(of: left.halves) { left in
            withUnsafeBytes(of: right.halves) { right in
                ConstantTime.areEqual(left, right)
            }
        }
    }

    /// 32 lowercase hex digits in byte order.
    public var description: String {
        let digits = Array("0123456789abcdef".utf8)
        return withUnsafeBytes(of: halves) { bytes in
            String(
                decoding: bytes.flatMap { [digits[Int($0 >> 4)], digits[Int($0 & 15)]] },
                as: UTF8.self)
        }
    }
}

/// Incrementally computes an unkeyed BLAKE2b digest (`crypto_generichash`).
///
/// With 32 bytes it's collision-resistant, so it can identify content. Belongs to one thread.
public final class BLAKE2bDigest {
    private let memory: UnsafeMutableRawPointer
    private let state: OpaquePointer

    private let byteCount: Int

    /// Starts an empty digest of `byteCount` bytes, 16 to 64.
    ///
    /// - Throws: `.unavailable`
    public init(byteCount: Int = 32) throws(SodiumError) {
        precondition((16...64).contains(byteCount), "BLAKE2b does not support this digest")
        guard isReady else { throw .unavailable }
        self.byteCount = byteCount
        // The state requires a stricter alignment than Swift's default.
        memory = .allocate(
            byteCount: crypto_generichash_statebytes(), alignment: 64)
        state = OpaquePointer(memory)
        crypto_generichash_init(state, nil, 0, byteCount)
    }

    deinit { memory.deallocate() }

    /// Appends bytes.
    public func update(_ bytes: [UInt8]) {
        bytes.withUnsafeBufferPointer {
            _ = crypto_generichash_update(state, $0.baseAddress, UInt64($0.count))
        }
    }

    /// Appends bytes.
    public func update(_ bytes: RawSpan) {
        bytes.withUnsafeBytes {
            _ = crypto_generichash_update(
                state, $0.bindMemory(to: UInt8.self).baseAddress, UInt64($0.count))
        }
    }

    /// Returns the digest's bytes. Must be the last call.
    public func finishBytes() -> [UInt8] {
        var digest = [UInt8](repeating: 0, count: byteCount)
        crypto_generichash_final(state, &digest, digest.count)
        return digest
    }

    /// Returns the digest in lowercase hex. Must be the last call.
    public func finish() -> String {
        let digest = finishBytes()
        let digits = Array("0123456789abcdef".utf8)
        return String(
            decoding: digest.flatMap { [digits[Int($0 >> 4)], digits[Int($0 & 15)]] },
            as: UTF8.self)
    }
}

/// Comparison in constant time, which doesn't reveal where two secrets differ.
public enum ConstantTime {
    /// Whether both have the same length and bytes. The duration only depends on the length.
    public static func areEqual(
        _ left: UnsafeRawBufferPointer, _ right: UnsafeRawBufferPointer
    ) -> Bool {
        guard left.count == right.count else { return false }
        guard let first = left.baseAddress, let second = right.baseAddress else { return true }
        return sodium_memcmp(first, second, left.count) == 0
    }

    /// Whether both have the same length and bytes. The duration only depends on the length.
    public static func areEqual(_ left: [UInt8], _ right: [UInt8]) -> Bool {
        left.withUnsafeBytes { left in right.withUnsafeBytes { areEqual(left, $0) } }
    }
}

/// Cryptographically secure random bytes.
public enum SecureRandom {
    /// Returns `count` bytes of the kernel's generator.
    ///
    /// - Throws: `.unavailable`
    public static func bytes(_ count: Int) throws(SodiumError) -> [UInt8] {
        guard isReady else { throw .unavailable }
        return [UInt8](unsafeUninitializedCapacity: count) { buffer, filled in
            if let start = buffer.baseAddress { randombytes_buf(start, count) }
            filled = count
        }
    }
}
