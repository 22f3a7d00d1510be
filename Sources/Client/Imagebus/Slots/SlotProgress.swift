/// How far the load of a slot is.
public struct SlotProgress: Hashable, Sendable {
    /// Bytes so far.
    public var received: UInt64
    /// Bytes in all; 0 where unknown.
    public var expected: UInt64

    /// Nothing has come, and nobody knows how much there is: every load begins so.
    public static let none = SlotProgress(received: 0, expected: 0)
    /// All of it, of a load that told nothing on its way.
    public static let whole = SlotProgress(received: 1, expected: 1)

    /// So many bytes of so many; 0 of them where unknown.
    public init(received: UInt64, expected: UInt64) {
        (self.received, self.expected) = (received, expected)
    }

    /// From 0 to 1, for an indicator; 0 where the length is unknown.
    public var fraction: Double {
        guard expected > 0 else { return 0 }
        return min(1, Double(received) / Double(expected))
    }
}
