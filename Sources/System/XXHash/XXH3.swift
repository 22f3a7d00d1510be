internal import CXXHash

/// XXH3 of bytes in memory. Detects accidental changes, not tampering.
public enum XXH3 {
    /// Returns the 64-bit hash with seed 0.
    public static func hash64(_ bytes: UnsafeRawBufferPointer) -> UInt64 {
        XXH3_64bits(bytes.baseAddress, bytes.count)
    }

    /// Returns the 64-bit hash with seed 0.
    public static func hash64(_ bytes: RawSpan) -> UInt64 {
        bytes.withUnsafeBytes { hash64($0) }
    }

    /// Returns the 128-bit hash with seed 0.
    public static func hash128(_ bytes: UnsafeRawBufferPointer) -> Hash128 {
        Hash128(XXH3_128bits(bytes.baseAddress, bytes.count))
    }

    /// Returns the 128-bit hash with seed 0.
    public static func hash128(_ bytes: RawSpan) -> Hash128 {
        bytes.withUnsafeBytes { hash128($0) }
    }
}

/// Incremental XXH3; returns the same value as `XXH3` over all bytes.
public struct XXH3Stream: ~Copyable {
    private let state: OpaquePointer

    /// Creates an empty stream with seed 0.
    ///
    /// - Throws: `OutOfMemory` if its 576 bytes can't be allocated.
    public init() throws(OutOfMemory) {
        guard let state = XXH3_createState() else { throw OutOfMemory() }
        self.state = state
        XXH3_128bits_reset(state)
    }

    deinit {
        XXH3_freeState(state)
    }

    /// Appends bytes.
    public mutating func update(_ bytes: UnsafeRawBufferPointer) {
        // One state serves both widths: they differ only in the final step (xxhash.h).
        XXH3_128bits_update(state, bytes.baseAddress, bytes.count)
    }

    /// Returns the 64-bit hash of all bytes so far; more may follow.
    public borrowing func hash64() -> UInt64 {
        XXH3_64bits_digest(state)
    }

    /// Returns the 128-bit hash of all bytes so far; more may follow.
    public borrowing func hash128() -> Hash128 {
        Hash128(XXH3_128bits_digest(state))
    }
}

extension XXH3Stream {
    /// The state of a stream couldn't be allocated.
    public struct OutOfMemory: Error {}
}

/// A 128-bit hash in two halves.
public struct Hash128: Sendable, Hashable, CustomStringConvertible {
    /// Bits 64 to 127.
    public let high: UInt64
    /// Bits 0 to 63.
    public let low: UInt64

    /// Creates a hash from stored halves.
    public init(high: UInt64, low: UInt64) {
        self.high = high
        self.low = low
    }

    init(_ hash: XXH128_hash_t) {
        self.init(high: hash.high64, low: hash.low64)
    }

    /// 32 lowercase hex digits, high half first (the canonical order of `xxhsum`).
    public var description: String { hex(high) + hex(low) }
}

private func hex(_ value: UInt64) -> String {
    let digits = String(value, radix: 16)
    return String(repeating: "0", count: 16 - digits.count) + digits
}
