import CZMQ
import Glibc

/// An error number of libzmq: the system's own numbers, and a few that only libzmq has.
public struct ZMQError: RawRepresentable, Error, Hashable, Sendable, CustomStringConvertible {
    /// The number as `zmq_errno` gives it; positive.
    public let rawValue: Int32

    /// Wraps a number as `zmq_errno` gives it.
    public init(rawValue: Int32) {
        self.rawValue = rawValue
    }

    /// EAGAIN: nothing to receive, or no room to send. Seen by callers as nil or `.wouldBlock`.
    public static let wouldBlock = ZMQError(rawValue: EAGAIN)
    /// EINTR: a signal came in between.
    public static let interrupted = ZMQError(rawValue: EINTR)
    /// EHOSTUNREACH: a ROUTER has no peer of this routing id.
    public static let hostUnreachable = ZMQError(rawValue: EHOSTUNREACH)
    /// ETERM: the context was shut down.
    public static let terminated = ZMQError(rawValue: ETERM)
    /// EFSM: the socket is not in a state for this call.
    public static let wrongState = ZMQError(rawValue: EFSM)
    /// ENOTSOCK: not a live socket.
    public static let notSocket = ZMQError(rawValue: ENOTSOCK)
    /// EADDRINUSE: somebody has bound the endpoint.
    public static let addressInUse = ZMQError(rawValue: EADDRINUSE)
    /// ENOENT: the endpoint is not bound or connected here; for ipc, its directory is not there.
    public static let noEndpoint = ZMQError(rawValue: ENOENT)
    /// EINVAL: an option, an endpoint or a size that libzmq does not take.
    public static let invalidArgument = ZMQError(rawValue: EINVAL)
    /// EMFILE: as many sockets as the context allows, or no descriptor left.
    public static let tooManySockets = ZMQError(rawValue: EMFILE)
    /// ENOMEM: out of memory.
    public static let noMemory = ZMQError(rawValue: ENOMEM)
    /// EACCES: the mode of the ipc socket or of a directory above it forbids it.
    public static let accessDenied = ZMQError(rawValue: EACCES)

    /// libzmq's own text.
    public var description: String {
        guard let text = zmq_strerror(rawValue) else { return "libzmq error \(rawValue)" }
        return String(cString: text)
    }
}

/// Calls libzmq and turns -errno into a thrown error; repeats while a signal interrupts.
@discardableResult
func zmq(_ call: () -> Int32) throws(ZMQError) -> Int32 {
    while true {
        let result = call()
        if result >= 0 { return result }
        if result != -EINTR { throw ZMQError(rawValue: -result) }
    }
}
