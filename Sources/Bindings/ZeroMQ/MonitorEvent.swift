import CZMQ

/// What happened to a connection of a monitored socket. Descriptors are numbers that libzmq owns; a
/// closed one is reused at once.
public enum MonitorEvent: Hashable, Sendable {
    /// A connection we made is open, the greeting still to come.
    case connected(descriptor: Int32)
    /// A connection attempt is under way.
    case connectDelayed(errno: Int32)
    /// The next attempt comes after so many milliseconds.
    case connectRetried(milliseconds: Int32)
    /// The socket listens.
    case listening(descriptor: Int32)
    /// The socket could not listen.
    case bindFailed(errno: Int32)
    /// A peer's connection is open, the greeting still to come.
    case accepted(descriptor: Int32)
    /// A peer's connection could not be opened, for example for lack of descriptors.
    case acceptFailed(errno: Int32)
    /// The greeting is complete: messages flow. Of which connection libzmq does not say.
    case handshakeSucceeded
    /// The greeting failed: a stranger, or an error of the system.
    case handshakeFailed(detail: Int32)
    /// The connection is broken: the peer closed it or died.
    case disconnected(descriptor: Int32)
    /// A listening or unfinished connection was closed by us.
    case closed(descriptor: Int32)
    /// A close failed.
    case closeFailed(errno: Int32)
    /// The monitor is over; no event follows.
    case monitorStopped
    /// An event of a later libzmq.
    case unknown(event: UInt16)

    init(_ event: UInt16, _ value: Int32) {
        switch Int32(event) {
        case ZMQ_EVENT_CONNECTED: self = .connected(descriptor: value)
        case ZMQ_EVENT_CONNECT_DELAYED: self = .connectDelayed(errno: value)
        case ZMQ_EVENT_CONNECT_RETRIED: self = .connectRetried(milliseconds: value)
        case ZMQ_EVENT_LISTENING: self = .listening(descriptor: value)
        case ZMQ_EVENT_BIND_FAILED: self = .bindFailed(errno: value)
        case ZMQ_EVENT_ACCEPTED: self = .accepted(descriptor: value)
        case ZMQ_EVENT_ACCEPT_FAILED: self = .acceptFailed(errno: value)
        case ZMQ_EVENT_HANDSHAKE_SUCCEEDED: self = .handshakeSucceeded
        case ZMQ_EVENT_HANDSHAKE_FAILED_NO_DETAIL, ZMQ_EVENT_HANDSHAKE_FAILED_PROTOCOL,
            ZMQ_EVENT_HANDSHAKE_FAILED_AUTH:
            self = .handshakeFailed(detail: value)
        case ZMQ_EVENT_DISCONNECTED: self = .disconnected(descriptor: value)
        case ZMQ_EVENT_CLOSED: self = .closed(descriptor: value)
        case ZMQ_EVENT_CLOSE_FAILED: self = .closeFailed(errno: value)
        case ZMQ_EVENT_MONITOR_STOPPED: self = .monitorStopped
        default: self = .unknown(event: event)
        }
    }
}
