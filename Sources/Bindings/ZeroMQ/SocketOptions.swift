/// Every option that libzmq would otherwise decide by a default that does not suit a bus.
///
/// Set before bind and connect; `Socket.currentOptions()` reads back what holds.
public struct SocketOptions: Hashable, Sendable {
    /// LINGER: how long unsent messages survive a close, in milliseconds. libzmq's default is
    /// for ever, and the end of the context would wait for it.
    public var lingerMilliseconds = 0
    /// SNDHWM: messages queued for one peer before a send would block; 0 is no limit.
    public var sendQueueMax = 1_000
    /// RCVHWM: messages of one peer that wait to be received; 0 is no limit.
    public var receiveQueueMax = 1_000
    /// MAXMSGSIZE: bytes of one frame; the connection of a peer that sends more is closed.
    public var frameBytesMax: Int
    /// IMMEDIATE: queue only for connections that are complete, so nothing waits for a peer that
    /// is not there.
    public var isImmediate = true
    /// RECONNECT_IVL: milliseconds before the first attempt to connect again.
    public var reconnectMilliseconds = 10
    /// RECONNECT_IVL_MAX: the interval doubles up to this many milliseconds.
    public var reconnectMillisecondsMax = 250
    /// HANDSHAKE_IVL: milliseconds within which a connection must complete its greeting.
    public var handshakeMilliseconds = 5_000
    /// BACKLOG: connections that wait to be accepted.
    public var backlog = 512

    /// The bus' options for frames of at most so many bytes.
    public init(frameBytesMax: Int) {
        self.frameBytesMax = frameBytesMax
    }
}
