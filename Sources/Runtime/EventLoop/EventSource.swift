/// One socket or descriptor that an `EventLoop` watches.
public struct EventSource: Hashable, Sendable {
    let index: Int
}

/// The sources that a turn found ready, in the order in which they were added.
///
/// A bit for each: no allocation per turn.
public struct ReadySources: Sequence, IteratorProtocol, Hashable, Sendable {
    var bits: UInt64 = 0

    /// Whether this source is among them.
    public func contains(_ source: EventSource) -> Bool {
        bits & (1 << UInt64(source.index)) != 0
    }

    /// Whether the turn found none: a deadline, or a signal that came in between.
    public var isEmpty: Bool {
        bits == 0
    }

    /// Takes the next one.
    public mutating func next() -> EventSource? {
        guard bits != 0 else { return nil }
        let index = bits.trailingZeroBitCount
        bits &= bits - 1
        return EventSource(index: index)
    }

    /// Whether it was among them.
    mutating func remove(_ index: Int) -> Bool {
        let bit: UInt64 = 1 << UInt64(index)
        defer { bits &= ~bit }
        return bits & bit != 0
    }

    mutating func insert(_ index: Int) {
        bits |= 1 << UInt64(index)
    }
}
