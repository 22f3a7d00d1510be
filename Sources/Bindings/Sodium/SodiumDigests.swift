internal import CSodium

/// Sets the library up once per process, at the first use (`sodium_init` is thread-safe, and
/// answers 1 where another part of the process, such as libzmq, did it before).
///
/// It fails only where the kernel gives no random numbers, and then no key may be made at all.
let isReady: Bool = sodium_init() >= 0

/// Why a keyed digest cannot be made.
public enum SodiumError: Error, Sendable, Hashable {
    /// The kernel gives no random numbers.
    case unavailable
    /// The key has another length than `KeyedDigest.keyLength`.
    case keyLength(Int)
    /// No memory for the key.
    case outOfMemory
}

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

/// A 16-byte digest; comparing two takes the same time whatever they hold.
public struct Digest128: Sendable, Equatable, CustomStringConvertible {
    /// The length, bytes.
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

    /// 32 lowercase hex digits, in the order of the bytes.
    public var description: String {
        let digits = Array("0123456789abcdef".utf8)
        return withUnsafeBytes(of: halves) { bytes in
            String(
                decoding: bytes.flatMap { [digits[Int($0 >> 4)], digits[Int($0 & 15)]] },
                as: UTF8.self)
        }
    }
}

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

/// Comparison that does not tell by its duration where two secrets differ.
public enum ConstantTime {
    /// Whether both have the same length and the same bytes; only the length shows in the time.
    public static func areEqual(
        _ left: UnsafeRawBufferPointer, _ right: UnsafeRawBufferPointer
    ) -> Bool {
        guard left.count == right.count else { return false }
        guard let first = left.baseAddress, let second = right.baseAddress else { return true }
        return sodium_memcmp(first, second, left.count) == 0
    }

    /// Whether both have the same length and the same bytes; only the length shows in the time.
    public static func areEqual(_ left: [UInt8], _ right: [UInt8]) -> Bool {
        left.withUnsafeBytes { left in right.withUnsafeBytes { areEqual(left, $0) } }
    }
}

/// Random bytes that nobody can guess.
public enum SecureRandom {
    /// `count` bytes of the kernel's generator.
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
