/// What an `EventedHTTPServer` takes of strangers at most.
public struct HTTPLimits: Hashable, Sendable {
    /// Connections at a time.
    public var connections = 12_000
    /// Of one address; 0: as many as in all. Peers of a Unix socket have no address, so this limit
    /// does not apply to them.
    public var connectionsPerPeer = 512
    /// Seconds after which a connection without traffic is closed; one whose answer is awaited
    /// counts as busy.
    public var idleSeconds = 60
    /// Seconds in which a request has to come as a whole, from the beginning of its connection or
    /// from its first line on, however its bytes trickle in; behind an answer the first line has
    /// `idleSeconds` besides.
    public var headSeconds = 30
    /// Bytes a second that a peer has to take of an answer, over each `readSeconds`; slow mobile
    /// networks have more.
    public var leastBytesPerSecond = 16 << 10
    /// Seconds after which a peer that has taken less than that is closed.
    var readSeconds: Int { min(idleSeconds, Self.readSecondsMax) }
    /// Bytes of a request line and its headers; more is refused with 431 or 414.
    public var headBytes = 32 << 10
    /// Bytes of a body; more is refused with 413.
    public var bodyBytes = 0
    /// Bodies that are kept at a time, from their first byte to the end of their requests; one more
    /// is refused with 503.
    public var bodies = 16

    private static let readSecondsMax = 60
    /// Bytes of an answer that the system keeps for a peer beyond those that are on their way. It
    /// would keep megabytes, which count against the memory of the process. Most images are
    /// smaller and go out in one call.
    public static let unsentBytes = 64 << 10

    /// The limits above.
    public init() {}
}
