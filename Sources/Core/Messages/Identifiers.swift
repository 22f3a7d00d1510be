/// One request of one client, chosen by it, 128 random bits.
public struct Token: Hashable, Sendable {
    /// The bits.
    public let value: Identifier128

    /// Takes random bits.
    public init(_ value: Identifier128) { self.value = value }
}

/// A set of requests that one message cancels.
public struct GroupID: Hashable, Sendable {
    /// The bits.
    public let value: Identifier128

    /// Takes random bits.
    public init(_ value: Identifier128) { self.value = value }
}

/// One life of a process: random, new at every start. Names its segments too.
public struct Incarnation: Hashable, Sendable {
    /// The bits.
    public let value: Identifier128

    /// Takes random bits.
    public init(_ value: Identifier128) { self.value = value }
}

/// One life of the coordinator; scopes job and block references (PROTOCOL §5).
public struct Epoch: Hashable, Sendable {
    /// The bits.
    public let value: Identifier128

    /// Takes random bits.
    public init(_ value: Identifier128) { self.value = value }
}

/// A job of one epoch; never reused within it.
public struct JobID: IssuedNumber {
    /// Counts from 1.
    public let value: UInt64

    /// Takes a count.
    public init(_ value: UInt64) { self.value = value }
}

/// A block of one producer process; from one counter, never reused, never 0.
public struct BlockID: Hashable, Sendable {
    /// Counts from 1.
    public let value: UInt64

    /// Takes a count.
    public init(_ value: UInt64) { self.value = value }
}
