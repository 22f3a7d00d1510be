import CZMQ
import Glibc
import Synchronization

/// One libzmq instance with its I/O threads.
///
/// It ends (`zmq_ctx_term`) when the last reference goes; each `Socket` holds one, so all sockets
/// are closed by then, and since every socket has a finite linger, the end comes promptly. May be
/// shared between threads; sockets may not.
public final class Context {
    let pointer: UnsafeMutableRawPointer
    private let monitors = Atomic<UInt64>(0)

    /// Starts an instance.
    ///
    /// `socketsMax` bounds the sockets open at once (libzmq's default is 1,023). Throws `noMemory`
    /// or `tooManySockets` when the system has nothing left, EINVAL for a bad option.
    public init(ioThreads: Int = 1, socketsMax: Int = 1_023) throws(ZMQError) {
        guard let pointer = zmq_ctx_new() else { throw ZMQError(rawValue: zmq_errno()) }
        self.pointer = pointer
        try zmq { czmq_ctx_set(pointer, ZMQ_IO_THREADS, Int32(clamping: ioThreads)) }
        try zmq { czmq_ctx_set(pointer, ZMQ_MAX_SOCKETS, Int32(clamping: socketsMax)) }
    }

    deinit {
        while czmq_ctx_term(pointer) == -EINTR {}
    }

    /// Wakes every wait in every thread: from now on all calls on its sockets throw `terminated`.
    public func shutdown() {
        // Fails only for a context that has ended, which no reference can name.
        _ = czmq_ctx_shutdown(pointer)
    }

    /// A name for one more monitor. Never used again: libzmq frees a name only some time after the
    /// monitor has ended.
    func nextMonitorName() -> String {
        "inproc://monitor-\(monitors.add(1, ordering: .relaxed).newValue)"
    }

    /// The version of the library that runs, for example `4.3.4`.
    public static var libraryVersion: String {
        var (major, minor, patch): (Int32, Int32, Int32) = (0, 0, 0)
        zmq_version(&major, &minor, &patch)
        return "\(major).\(minor).\(patch)"
    }
}

// libzmq documents contexts as safe to use from several threads; the pointer never changes.
extension Context: @unchecked Sendable {}

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

/// Where sockets meet: a Unix socket, or a name within one context.
public struct Endpoint: Hashable, Sendable, CustomStringConvertible {
    /// Why a text is no endpoint.
    public enum Failure: Error, Hashable, Sendable {
        /// The path of a Unix socket may have 107 bytes (`sun_path` less its zero).
        case pathTooLong(bytes: Int)
        /// No path or name, or one with a zero byte; `*` and `@` would be wildcard and abstract.
        case badName
        /// Neither `ipc://` nor `inproc://`.
        case unknownTransport
    }

    /// How many bytes the path of a Unix socket may have.
    public static let pathBytesMax = 107

    /// As libzmq takes it, for example `ipc:///run/imagebus/front/front.sock`.
    public let description: String
    /// The path of the Unix socket; nil within a process.
    public let path: String?

    private init(description: String, path: String?) {
        self.description = description
        self.path = path
    }

    /// A Unix socket at this path; its directory must exist when it is bound.
    public static func ipc(path: String) throws(Failure) -> Endpoint {
        let count = path.utf8.count
        if count > pathBytesMax { throw .pathTooLong(bytes: count) }
        if path.utf8.contains(0) || path.isEmpty || path == "*" || path.hasPrefix("@") {
            throw .badName
        }
        return Endpoint(description: "ipc://" + path, path: path)
    }

    /// A name within one `Context`, at most 255 bytes; bind before connect.
    public static func inproc(name: String) throws(Failure) -> Endpoint {
        if name.isEmpty || name.utf8.count > 255 || name.utf8.contains(0) { throw .badName }
        return Endpoint(description: "inproc://" + name, path: nil)
    }

    /// Reads `ipc://PATH` or `inproc://NAME`.
    public init(parsing text: String) throws(Failure) {
        if text.hasPrefix("ipc://") {
            self = try .ipc(path: String(text.dropFirst(6)))
        } else if text.hasPrefix("inproc://") {
            self = try .inproc(name: String(text.dropFirst(9)))
        } else {
            throw .unknownTransport
        }
    }
}

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

/// The owner of one libzmq socket: closed when the value ends. Belongs to one thread.
///
/// Nothing here blocks: sending and receiving say when they would, and `PollSet` waits.
public struct Socket: ~Copyable {
    let pointer: UnsafeMutableRawPointer
    let handle: SocketHandle
    /// On which libzmq tells that something may have changed (ZMQ_FD).
    let descriptor: Int32
    /// Its type.
    public let kind: SocketKind

    /// Opens a socket with every option set.
    ///
    /// Throws `tooManySockets`, `terminated` after a shutdown, and EINVAL for a value that libzmq
    /// does not take.
    public init(
        _ kind: SocketKind, in context: Context, _ options: SocketOptions
    ) throws(ZMQError) {
        var opened: UnsafeMutableRawPointer?
        try zmq { czmq_socket(context.pointer, kind.number, &opened) }
        guard let opened else { throw .notSocket }
        // From here on the handle closes it, whatever is thrown.
        let owner = SocketHandle(opened, context)
        try Self.apply(options, kind: kind, to: opened)
        descriptor = try Self.get(opened, ZMQ_FD, Int32(-1))
        pointer = opened
        handle = owner
        self.kind = kind
    }

    deinit {
        handle.close()
    }

    /// Listens. An existing Unix socket of that path is replaced without a word: whoever binds must
    /// hold a lock that says that nobody else serves there.
    public borrowing func bind(_ endpoint: Endpoint) throws(ZMQError) {
        let pointer = pointer
        handle.stir()
        try zmq { czmq_bind(pointer, endpoint.description) }
    }

    /// Stops listening. What was accepted there is lost with it: libzmq ends such connections'
    /// sessions without a word to the other side.
    public borrowing func unbind(_ endpoint: Endpoint) throws(ZMQError) {
        let pointer = pointer
        handle.stir()
        try zmq { czmq_unbind(pointer, endpoint.description) }
    }

    /// Connects in the background, again and again until `disconnect` or the end.
    public borrowing func connect(_ endpoint: Endpoint) throws(ZMQError) {
        let pointer = pointer
        handle.stir()
        try zmq { czmq_connect(pointer, endpoint.description) }
    }

    /// Gives a connection up, with what is queued for it.
    public borrowing func disconnect(_ endpoint: Endpoint) throws(ZMQError) {
        let pointer = pointer
        handle.stir()
        try zmq { czmq_disconnect(pointer, endpoint.description) }
    }
}

/// What a socket and its monitor share: which of them ends first does not matter.
///
/// A class, because a noncopyable value cannot be referred to from two places.
final class SocketHandle {
    private(set) var pointer: UnsafeMutableRawPointer?
    /// What may be possible although the descriptor does not say so: something was called on the
    /// socket since its state was known, and libzmq may have read within that call what the
    /// descriptor had to say.
    var unknown = PollReadiness(isReadable: true, isWritable: true)
    private let context: Context

    init(_ pointer: UnsafeMutableRawPointer, _ context: Context) {
        self.pointer = pointer
        self.context = context
    }

    /// Something is called on the socket.
    func stir() { unknown = PollReadiness(isReadable: true, isWritable: true) }

    /// libzmq looked for a message and has none. It looks at its descriptor before it says so:
    /// what comes from now on, the descriptor tells.
    func foundNothingToRead() { unknown.isReadable = false }

    /// What can be done now (ZMQ_EVENTS). Throws `notSocket` after `close`.
    func readiness() throws(ZMQError) -> PollReadiness {
        guard let pointer else { throw .notSocket }
        let state = try Socket.get(pointer, ZMQ_EVENTS, Int32(0))
        return PollReadiness(
            isReadable: state & Int32(ZMQ_POLLIN) != 0,
            isWritable: state & Int32(ZMQ_POLLOUT) != 0)
    }

    func close() {
        guard let open = pointer else { return }
        pointer = nil
        // Fails only for a pointer that is no socket.
        _ = czmq_close(open)
    }

    deinit {
        close()
    }
}

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

extension Socket {
    /// What holds on this socket now, as libzmq tells it.
    ///
    /// ROUTER_MANDATORY (always on) and ROUTER_HANDOVER (always off) can be set but not read.
    public borrowing func currentOptions() throws(ZMQError) -> SocketOptions {
        handle.stir()
        let size = try Self.get(pointer, ZMQ_MAXMSGSIZE, Int64(0))
        var options = SocketOptions(frameBytesMax: Int(size))
        options.lingerMilliseconds = try number(ZMQ_LINGER)
        options.sendQueueMax = try number(ZMQ_SNDHWM)
        options.receiveQueueMax = try number(ZMQ_RCVHWM)
        options.isImmediate = try number(ZMQ_IMMEDIATE) != 0
        options.reconnectMilliseconds = try number(ZMQ_RECONNECT_IVL)
        options.reconnectMillisecondsMax = try number(ZMQ_RECONNECT_IVL_MAX)
        options.handshakeMilliseconds = try number(ZMQ_HANDSHAKE_IVL)
        options.backlog = try number(ZMQ_BACKLOG)
        return options
    }

    static func apply(
        _ options: SocketOptions, kind: SocketKind, to pointer: UnsafeMutableRawPointer
    ) throws(ZMQError) {
        try set(pointer, ZMQ_LINGER, options.lingerMilliseconds)
        try set(pointer, ZMQ_SNDHWM, options.sendQueueMax)
        try set(pointer, ZMQ_RCVHWM, options.receiveQueueMax)
        try set(pointer, ZMQ_MAXMSGSIZE, exactly: Int64(options.frameBytesMax))
        try set(pointer, ZMQ_IMMEDIATE, options.isImmediate ? 1 : 0)
        try set(pointer, ZMQ_RECONNECT_IVL, options.reconnectMilliseconds)
        try set(pointer, ZMQ_RECONNECT_IVL_MAX, options.reconnectMillisecondsMax)
        try set(pointer, ZMQ_HANDSHAKE_IVL, options.handshakeMilliseconds)
        try set(pointer, ZMQ_BACKLOG, options.backlog)
        guard kind == .router else { return }
        // Without it a message to a peer that has gone vanishes without an error.
        try set(pointer, ZMQ_ROUTER_MANDATORY, 1)
        // A newcomer must never take over the routing id of a live peer.
        try set(pointer, ZMQ_ROUTER_HANDOVER, 0)
    }

    private borrowing func number(_ option: Int32) throws(ZMQError) -> Int {
        Int(try Self.get(pointer, option, Int32(0)))
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

/// The events of one socket's connections, in order, as messages of a PAIR.
///
/// Death of a peer is an event here, without heartbeats. Lives on the socket's thread; which of the
/// two ends first does not matter.
public struct SocketMonitor: ~Copyable {
    /// What `PollSet` watches.
    public let socket: Socket
    private let monitored: SocketHandle
    private var reader = MessageReader(framesMax: 2)

    /// How many events may wait, unless a monitor is given another number.
    public static let eventsMax = 65_536
    /// Events that may wait on libzmq's side of the queue, which nobody can change.
    public static let senderEventsMax = 1_000

    /// Starts monitoring. Do it before bind or connect, or the first events are missed.
    ///
    /// When `eventsMax` and `senderEventsMax` events wait, libzmq's I/O thread waits until they
    /// are read: drain the monitor in every turn. As each accepted connection is an event, that
    /// bounds how many there can be that nobody has looked at.
    ///
    /// Throws EADDRINUSE when the socket has a monitor already.
    public init(
        _ socket: borrowing Socket, in context: Context, eventsMax: Int = SocketMonitor.eventsMax
    ) throws(ZMQError) {
        let pointer = socket.pointer
        socket.handle.stir()
        let name = context.nextMonitorName()
        var options = SocketOptions(frameBytesMax: 4_096)
        options.receiveQueueMax = eventsMax
        let events = try Socket(.pair, in: context, options)
        let reading = events.pointer
        events.handle.stir()
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
        // libzmq would go on sending, and wait for a reader that has gone: stop it first.
        guard let pointer = monitored.pointer else { return }
        // Its last event needs room in the queue that nobody but this thread empties.
        var last = MessageReader(framesMax: 2)
        while (try? last.receive(from: socket)) == true {}
        _ = czmq_monitor(pointer, nil, 0)
    }

    /// The next event; nil when there is none. Throws `terminated` after a shutdown.
    public mutating func next() throws(ZMQError) -> MonitorEvent? {
        guard try reader.receive(from: socket) else { return nil }
        return reader.withBytes(at: 0) { frame in
            guard frame.count == 6 else { return .unknown(event: 0) }
            return MonitorEvent(
                frame.loadUnaligned(fromByteOffset: 0, as: UInt16.self),
                frame.loadUnaligned(fromByteOffset: 2, as: Int32.self))
        }
    }
}

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
