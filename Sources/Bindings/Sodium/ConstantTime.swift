internal import CSodium

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
