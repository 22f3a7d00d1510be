/// What an `EventedHTTPServer` takes of strangers at most.
public struct HTTPLimits: Hashable, Sendable {
    /// Connections at a time.
    public var connections = 12_000
    /// Of one address; 0: as many as in all. Peers of a Unix socket have no address and no such
    /// limit.
    public var connectionsPerPeer = 512
    /// Seconds after which a connection without traffic is closed; one whose answer is awaited
    /// counts as busy.
    public var idleSeconds = 60
    /// Seconds in which a request has to come as a whole, from the beginning of its connection or
    /// from its first line on, however its bytes trickle in; behind an answer the first line has
    /// `idleSeconds` besides.
    public var headSeconds = 30
    /// Bytes a second that a peer takes of an answer on the whole, once `idleSeconds` are over.
    public var leastBytesPerSecond = 1 << 10
    /// Bytes of a request line and its headers; more is refused with 431 or 414.
    public var headBytes = 32 << 10
    /// Bytes of a body; more is refused with 413.
    public var bodyBytes = 0
    /// Bodies that are kept at a time, from their first byte to the end of their requests; one more
    /// is refused with 503.
    public var bodies = 16

    /// The limits above.
    public init() {}
}
