import CZMQ
import Glibc
import Synchronization

/// A libzmq instance with its I/O threads.
///
/// It's terminated (`zmq_ctx_term`) when its last reference goes away. Each `Socket` holds one, so
/// all sockets are closed by then, and since every socket has a finite linger, termination is
/// prompt. May be shared between threads; sockets may not.
public final class Context {
    let pointer: UnsafeMutableRawPointer
    private let monitors = Atomic<UInt64>(0)

    /// Creates an instance with one I/O thread and at most 1,023 sockets, which are libzmq's
    /// defaults. Throws an error if the system is out of resources.
    public init() throws(ZMQError) {
        guard let pointer = zmq_ctx_new() else { throw ZMQError(rawValue: zmq_errno()) }
        self.pointer = pointer
    }

    deinit {
        while czmq_ctx_term(pointer) == -EINTR {}
    }

    /// Returns a name for a new monitor. Names are never reused, since libzmq releases a name only
    /// some time after the monitor has ended.
    func nextMonitorName() -> String {
        "inproc://monitor-\(monitors.add(1, ordering: .relaxed).newValue)"
    }
}

// Sendable: libzmq documents contexts as thread-safe; the pointer never changes.
extension Context: @unchecked Sendable {}

/// An error number of libzmq: a system error number or one specific to libzmq.
public struct ZMQError: RawRepresentable, Error, Hashable, Sendable, CustomStringConvertible {
    /// The positive number returned by `zmq_errno`.
    public let rawValue: Int32

    /// Wraps a number returned by `zmq_errno`.
    public init(rawValue: Int32) {
        self.rawValue = rawValue
    }

    /// ENOTSOCK: not an open socket.
    public static let notSocket = ZMQError(rawValue: ENOTSOCK)
    /// EINVAL: an invalid option, endpoint or size.
    public static let invalidArgument = ZMQError(rawValue: EINVAL)

    /// libzmq's description.
    public var description: String {
        guard let text = zmq_strerror(rawValue) else { return "libzmq error \(rawValue)" }
        return String(cString: text)
    }
}

/// Calls libzmq and throws -errno results as errors; repeats the call while it's interrupted.
@discardableResult
func zmq(_ call: () -> Int32) throws(ZMQError) -> Int32 {
    while true {
        let result = call()
        if result >= 0 { return result }
        if result != -EINTR { throw ZMQError(rawValue: -result) }
    }
}

/// A socket address: a Unix socket, or a name within one context.
public struct Endpoint: Hashable, Sendable, CustomStringConvertible {
    /// Why a text isn't a valid endpoint.
    public enum Failure: Error, Hashable, Sendable {
        /// The path of a Unix socket is limited to 107 bytes (`sun_path` without its terminator).
        case pathTooLong(bytes: Int)
        /// The path is empty or contains a zero byte, or it is `*` (wildcard) or starts with `@`
        /// (abstract).
        case badName
        /// The transport is not `ipc://`.
        case unknownTransport
    }

    /// The largest number of bytes in the path of a Unix socket.
    public static let pathBytesMax = 107

    /// The path of the Unix socket.
    public let path: String

    /// The endpoint in libzmq's notation, such as `ipc:///run/imagebus/front/front.sock`.
    public var description: String { Self.scheme + path }

    private static let scheme = "ipc://"

    /// Creates the endpoint of a Unix socket. Its directory must exist when it's bound.
    public init(path: String) throws(Failure) {
        let count = path.utf8.count
        if count > Self.pathBytesMax { throw .pathTooLong(bytes: count) }
        if path.utf8.contains(0) || path.isEmpty || path == "*" || path.hasPrefix("@") {
            throw .badName
        }
        self.path = path
    }

    /// Parses `ipc://PATH`.
    public init(parsing text: String) throws(Failure) {
        guard text.hasPrefix(Self.scheme) else { throw .unknownTransport }
        try self.init(path: String(text.dropFirst(Self.scheme.count)))
    }
}

/// The socket types that the bus uses.
public struct SocketKind: Hashable, Sendable {
    let number: Int32

    /// The binding side: received messages start with the peer's routing ID, sent ones must.
    public static let router = SocketKind(number: ZMQ_ROUTER)
    /// The connecting side.
    public static let dealer = SocketKind(number: ZMQ_DEALER)
    /// One of exactly two in-process ends.
    public static let pair = SocketKind(number: ZMQ_PAIR)
}

/// The owner of a libzmq socket, which is closed when the value ends. Belongs to one thread.
///
/// Nothing here blocks: sending and receiving return if they would, and `PollSet` waits.
public struct Socket: ~Copyable {
    let pointer: UnsafeMutableRawPointer
    let handle: SocketHandle
    /// The descriptor on which libzmq signals possible changes (ZMQ_FD).
    let descriptor: Int32

    /// Opens a socket and sets every option.
    ///
    /// Throws EMFILE if there are too many sockets, and EINVAL for a value that libzmq rejects.
    public init(
        _ kind: SocketKind, in context: Context, _ options: SocketOptions
    ) throws(ZMQError) {
        var opened: UnsafeMutableRawPointer?
        try zmq { czmq_socket(context.pointer, kind.number, &opened) }
        guard let opened else { throw .notSocket }
        // From here on the handle closes the socket, whatever is thrown.
        let owner = SocketHandle(opened, context)
        try Self.apply(options, kind: kind, to: opened)
        descriptor = try Self.get(opened, ZMQ_FD, Int32(-1))
        pointer = opened
        handle = owner
    }

    deinit {
        handle.close()
    }

    /// Listens on an endpoint. An existing Unix socket at that path is silently replaced, so the
    /// caller must hold a lock that guarantees that no other process serves it.
    public borrowing func bind(_ endpoint: Endpoint) throws(ZMQError) {
        let pointer = pointer
        handle.invalidatePoll()
        try zmq { czmq_bind(pointer, endpoint.description) }
    }

    /// Connects in the background and reconnects until the socket is closed.
    public borrowing func connect(_ endpoint: Endpoint) throws(ZMQError) {
        let pointer = pointer
        handle.invalidatePoll()
        try zmq { czmq_connect(pointer, endpoint.description) }
    }
}

/// The state shared by a socket and its monitor, either of which may end first.
///
/// It's a class because a noncopyable value can't be referenced from two owners.
final class SocketHandle {
    private(set) var pointer: UnsafeMutableRawPointer?
    /// Whether there may be a message although the descriptor isn't readable: the socket was used
    /// since its state was last queried, and libzmq may have consumed the descriptor's event during
    /// that use.
    var mayBeReadable = true
    private let context: Context

    init(_ pointer: UnsafeMutableRawPointer, _ context: Context) {
        self.pointer = pointer
        self.context = context
    }

    /// Invalidates the known state, since the socket is being used.
    func invalidatePoll() { mayBeReadable = true }

    /// libzmq checks its descriptor before it reports that there is no message, so from now on the
    /// descriptor signals new ones.
    func foundNothingToRead() { mayBeReadable = false }

    /// Returns whether there is a message to read (ZMQ_EVENTS). Throws `notSocket` after `close`.
    func isReadable() throws(ZMQError) -> Bool {
        guard let pointer else { throw .notSocket }
        return try Socket.get(pointer, ZMQ_EVENTS, Int32(0)) & Int32(ZMQ_POLLIN) != 0
    }

    func close() {
        guard let open = pointer else { return }
        pointer = nil
        // Fails only for a pointer that isn't a socket.
        _ = czmq_close(open)
    }

    deinit {
        close()
    }
}

/// The options for which libzmq's default doesn't suit a bus. They are set before bind and connect.
public struct SocketOptions: Hashable, Sendable {
    /// LINGER: how long unsent messages survive a close, in milliseconds. libzmq's default is
    /// forever, which would block the termination of the context.
    public var lingerMilliseconds = 0
    /// SNDHWM: the number of messages queued per peer before a send would block; 0 means no limit.
    public var sendQueueMax = 1_000
    /// RCVHWM: the number of received messages queued per peer; 0 means no limit.
    public var receiveQueueMax = 1_000
    /// MAXMSGSIZE: the largest frame in bytes. The connection of a peer that sends more is closed.
    public var frameBytesMax: Int
    /// HANDSHAKE_IVL: the timeout for the handshake of a connection, in milliseconds.
    public var handshakeMilliseconds = 5_000

    /// The options that are numbers of 32 bits.
    var numbers: [(option: Int32, value: Int)] {
        [
            (ZMQ_LINGER, lingerMilliseconds), (ZMQ_SNDHWM, sendQueueMax),
            (ZMQ_RCVHWM, receiveQueueMax), (ZMQ_HANDSHAKE_IVL, handshakeMilliseconds),
            // Messages are queued only for completed connections: none waits for an absent peer.
            (ZMQ_IMMEDIATE, 1),
            // The delay before a reconnection attempt in milliseconds, which doubles up to the
            // maximum.
            (ZMQ_RECONNECT_IVL, 10), (ZMQ_RECONNECT_IVL_MAX, 250),
            // The number of connections waiting to be accepted.
            (ZMQ_BACKLOG, 512),
        ]
    }

    /// Creates the bus's options for the given frame limit.
    public init(frameBytesMax: Int) {
        self.frameBytesMax = frameBytesMax
    }
}

extension Socket {
    private static func apply(
        _ options: SocketOptions, kind: SocketKind, to pointer: UnsafeMutableRawPointer
    ) throws(ZMQError) {
        try set(pointer, ZMQ_MAXMSGSIZE, exactly: Int64(options.frameBytesMax))
        for (option, value) in options.numbers { try set(pointer, option, value) }
        guard kind == .router else { return }
        // Without it, messages to a disconnected peer are silently dropped.
        try set(pointer, ZMQ_ROUTER_MANDATORY, 1)
        // A new connection must never take over the routing ID of a live peer.
        try set(pointer, ZMQ_ROUTER_HANDOVER, 0)
    }

    private static func set(
        _ pointer: UnsafeMutableRawPointer, _ option: Int32, _ value: Int
    ) throws(ZMQError) {
        guard let narrow = Int32(exactly: value) else { throw .invalidArgument }
        try set(pointer, option, exactly: narrow)
    }

    private static func set<Value: FixedWidthInteger>(
        _ pointer: UnsafeMutableRawPointer, _ option: Int32, exactly value: Value
    ) throws(ZMQError) {
        try zmq {
            withUnsafeBytes(of: value) { czmq_set(pointer, option, $0.baseAddress, $0.count) }
        }
    }

    static func get<Value: FixedWidthInteger>(
        _ pointer: UnsafeMutableRawPointer, _ option: Int32, _ initial: Value
    ) throws(ZMQError) -> Value {
        var value = initial
        var size = MemoryLayout<Value>.size
        try zmq {
            withUnsafeMutableBytes(of: &value) {
                czmq_get(pointer, option, $0.baseAddress, &size)
            }
        }
        return value
    }
}

/// Connection events of one socket, in order, delivered as messages of a PAIR.
///
/// A peer's death is reported here without heartbeats. Lives on the socket's thread; either of the
/// two may end first.
public struct SocketMonitor: ~Copyable {
    /// The socket for `PollSet` to watch.
    public let socket: Socket
    private let monitored: SocketHandle
    private var reader = MessageReader(framesMax: 2)

    /// The default limit of queued events.
    public static let eventsMax = 65_536
    /// The limit of events queued on libzmq's side, which can't be changed.
    public static let senderEventsMax = 1_000

    /// Starts monitoring. Call it before bind or connect, otherwise the first events are missed.
    ///
    /// Once `eventsMax` plus `senderEventsMax` events are queued, libzmq's I/O thread blocks until
    /// they are read, so drain the monitor in every turn. As each accepted connection is an event,
    /// this bounds the number of connections that haven't been examined.
    ///
    /// Throws EADDRINUSE if the socket already has a monitor.
    public init(
        _ socket: borrowing Socket, in context: Context, eventsMax: Int = SocketMonitor.eventsMax
    ) throws(ZMQError) {
        let pointer = socket.pointer
        socket.handle.invalidatePoll()
        let name = context.nextMonitorName()
        var options = SocketOptions(frameBytesMax: 4_096)
        options.receiveQueueMax = eventsMax
        let events = try Socket(.pair, in: context, options)
        let reading = events.pointer
        events.handle.invalidatePoll()
        try zmq { czmq_monitor(pointer, name, ZMQ_EVENT_ALL) }
        do {
            try zmq { czmq_connect(reading, name) }
        } catch {
            _ = czmq_monitor(pointer, nil, 0)
            throw error
        }
        monitored = socket.handle
        self.socket = events
    }

    deinit {
        // libzmq would keep sending and block on a reader that's gone, so stop it first.
        guard let pointer = monitored.pointer else { return }
        // The final event needs space in the queue, which only this thread drains.
        var last = MessageReader(framesMax: 2)
        while (try? last.receive(from: socket)) == true {}
        _ = czmq_monitor(pointer, nil, 0)
    }

    /// Returns the next event, or `nil` if there is none.
    public mutating func next() throws(ZMQError) -> MonitorEvent? {
        guard try reader.receive(from: socket) else { return nil }
        let frame = reader.bytes(at: 0)
        guard frame.byteCount == 6 else { return .other(0) }
        return MonitorEvent(
            frame.unsafeLoadUnaligned(fromByteOffset: 0, as: UInt16.self),
            frame.unsafeLoadUnaligned(fromByteOffset: 2, as: Int32.self))
    }
}

/// A connection event of a monitored socket. Descriptors are numbers owned by libzmq; a closed one
/// may be reused at once.
public enum MonitorEvent: Hashable, Sendable {
    /// An outgoing connection is open, before the handshake.
    case connected(descriptor: Int32)
    /// The next attempt follows after this many milliseconds.
    case connectRetried(milliseconds: Int32)
    /// An incoming connection is open, before the handshake.
    case accepted(descriptor: Int32)
    /// The handshake is complete and messages flow. libzmq doesn't report for which connection.
    case handshakeSucceeded
    /// The connection was lost: the peer closed it or died.
    case disconnected(descriptor: Int32)
    /// This side closed a listening or incomplete connection.
    case closed(descriptor: Int32)
    /// Any other event, such as a failed handshake, with its number.
    case other(UInt16)

    init(_ event: UInt16, _ value: Int32) {
        switch Int32(event) {
        case ZMQ_EVENT_CONNECTED: self = .connected(descriptor: value)
        case ZMQ_EVENT_CONNECT_RETRIED: self = .connectRetried(milliseconds: value)
        case ZMQ_EVENT_ACCEPTED: self = .accepted(descriptor: value)
        case ZMQ_EVENT_HANDSHAKE_SUCCEEDED: self = .handshakeSucceeded
        case ZMQ_EVENT_DISCONNECTED: self = .disconnected(descriptor: value)
        case ZMQ_EVENT_CLOSED: self = .closed(descriptor: value)
        default: self = .other(event)
        }
    }
}
