/// A number that the coordinator gives itself, one after another.
///
/// Nobody else chooses such numbers, so nobody can choose them so that they collide in a table: one
/// multiplication hashes them as well as the standard library's hash, in a tenth of the time. Every
/// message leads to dozens of look-ups by session and by job.
public protocol IssuedNumber: Hashable, Comparable, Sendable {
    /// Counts up.
    var value: UInt64 { get }
}

extension IssuedNumber {
    /// Earlier ones are smaller.
    @inlinable public static func < (left: Self, right: Self) -> Bool { left.value < right.value }

    /// Spreads all bits over all others; each table has a seed of its own.
    @inlinable public func _rawHashValue(seed: Int) -> Int { value.spread(seed: seed) }
}

extension UInt64 {
    /// The hash of a number that nobody else chose.
    @inlinable public func spread(seed: Int) -> Int {
        let mixed = (self ^ UInt64(bitPattern: Int64(seed)))
            .multipliedFullWidth(by: 0x9E37_79B9_7F4A_7C15)
        return Int(truncatingIfNeeded: mixed.high ^ mixed.low)
    }
}
