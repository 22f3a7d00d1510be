public import Messages

/// Blocks that left the memory tier.
public struct Departures: Sendable, Hashable {
    /// They hold their keys no longer, or were large: the coordinator must hear of it.
    public var evicted: [BlockID] = []
    /// The memory tier has no claim to their bytes any more.
    public var freed: [BlockID] = []

    /// None.
    public init() {}

    /// Nothing left.
    public var isEmpty: Bool { evicted.isEmpty && freed.isEmpty }

    /// Takes in what else left.
    public mutating func append(_ other: Departures) {
        evicted += other.evicted
        freed += other.freed
    }
}
