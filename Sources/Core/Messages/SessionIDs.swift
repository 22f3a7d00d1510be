/// One connection of a worker, from its `Hello` to its end; never reused.
public struct WorkerID: Hashable, Comparable, Sendable {
    /// Counts from 1.
    public let value: UInt64

    /// Takes a count.
    public init(_ value: UInt64) { self.value = value }

    /// The coordinator itself, as the producer of what clients bring along.
    public static let coordinator = WorkerID(0)

    /// Earlier sessions are smaller.
    public static func < (left: WorkerID, right: WorkerID) -> Bool { left.value < right.value }
}

/// One connection of a client, from its `Hello` to its end; never reused.
public struct ClientID: Hashable, Comparable, Sendable {
    /// Counts from 1.
    public let value: UInt64

    /// Takes a count.
    public init(_ value: UInt64) { self.value = value }

    /// Earlier sessions are smaller.
    public static func < (left: ClientID, right: ClientID) -> Bool { left.value < right.value }
}
