/// One connection of a worker, from its `Hello` to its end; never reused.
public struct WorkerID: IssuedNumber {
    /// Counts from 1.
    public let value: UInt64

    /// Takes a count.
    public init(_ value: UInt64) { self.value = value }

    /// The coordinator itself, as the producer of what clients bring along.
    public static let coordinator = WorkerID(0)
}

/// One connection of a client, from its `Hello` to its end; never reused.
public struct ClientID: IssuedNumber {
    /// Counts from 1.
    public let value: UInt64

    /// Takes a count.
    public init(_ value: UInt64) { self.value = value }
}
