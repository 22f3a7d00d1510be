internal import CXXHash

/// A 128-bit hash in two halves.
public struct Hash128: Sendable, Hashable, CustomStringConvertible {
    /// Bits 64 to 127.
    public let high: UInt64
    /// Bits 0 to 63.
    public let low: UInt64

    /// A hash that was stored before.
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
