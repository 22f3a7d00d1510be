import CZMQ

/// The socket types that the bus uses.
public enum SocketKind: Hashable, Sendable {
    /// The side that binds: prefixes what it receives with the peer's routing id, and sends to it.
    case router
    /// The side that connects.
    case dealer
    /// Exactly two ends, within a process.
    case pair

    var number: Int32 {
        switch self {
        case .router: ZMQ_ROUTER
        case .dealer: ZMQ_DEALER
        case .pair: ZMQ_PAIR
        }
    }
}
