import Linux
import Model
import ProcessRuntime
import Wire
import ZeroMQ

/// One listener: its ROUTER socket, the events of its connections, and its traffic counters.
/// Confined to one thread.
final class ListenerSocket {
    let listener: Listener
    let socket: Socket
    private var monitor: SocketMonitor
    /// The message that was received last.
    var frames = RoutedFrames()
    /// The sender of that message.
    var sender = RoutingID(rawValue: 0)
    var connections: ConnectionLedger
    /// Connections that were not accepted: closed immediately, or rejected at their hello.
    private(set) var refusedConnections: UInt64 = 0
    private(set) var traffic: StatusReport.SocketStatus
    /// The event sources of the loop.
    private(set) var sources: (monitor: EventSource, socket: EventSource)?

    /// The number of connection events that may wait in this side of the monitor's queue.
    private static let waitingEventsMax = 256
    /// The number of connections that libzmq may accept before it blocks until their events are
    /// read.
    static let unseenConnectionsMax = waitingEventsMax + SocketMonitor.senderEventsMax
    /// The time in milliseconds that a connection has for its hello.
    static let silenceMilliseconds = 5_000

    /// The time in milliseconds to deliver the last answers at the end; an operator who requested
    /// the shutdown is answered earlier.
    private static let lingerMilliseconds = 100

    /// Binds the socket. The caller holds the coordinator's lock, so an existing socket is a
    /// leftover.
    init(
        _ listener: Listener, in context: Context, paths: RuntimePaths, limits: ConnectionLimits
    ) throws {
        self.listener = listener
        connections = ConnectionLedger(limits)
        traffic = StatusReport.SocketStatus(
            name: listener.name, messagesReceived: 0, messagesSent: 0, bytesReceived: 0,
            bytesSent: 0, largestMessage: 0)
        var options = SocketOptions(frameBytesMax: listener.frameBytesMax)
        options.lingerMilliseconds = Self.lingerMilliseconds
        options.sendQueueMax = 20_000
        options.receiveQueueMax = 20_000
        let router = try Socket(.router, in: context, options)
        monitor = try SocketMonitor(
            router, in: context, eventsMax: Self.waitingEventsMax)
        try router.bind(try Endpoint(parsing: listener.endpoint(in: paths)))
        // libzmq leaves the mode to the umask.
        try FileDescriptor.openDirectory(listener.directory(in: paths))
            .setMode(listener.socketMode, of: listener.socketName)
        socket = router
    }

    /// Adds both sockets to the loop.
    func watch(in loop: inout EventLoop) {
        sources = (loop.add(monitor.socket), loop.add(socket))
    }

    /// Returns whether connections began or ended.
    func hasConnectionNews(in turn: EventLoop.Turn) -> Bool {
        sources.map { turn.ready.contains($0.monitor) } ?? false
    }

    /// Returns whether there are messages.
    func hasMessages(in turn: EventLoop.Turn) -> Bool {
        sources.map { turn.ready.contains($0.socket) } ?? false
    }

    /// Returns the connections that ended since the last call. Reads at most as many events as
    /// could be queued when it was called, so that a flood of connections can't block the loop.
    func endedConnections(at now: Instant) throws(ZMQError) -> [ConnectionLedger.Connection] {
        var ended: [ConnectionLedger.Connection] = []
        for _ in 0...Self.unseenConnectionsMax {
            guard let event = try monitor.next() else { return ended }
            switch event {
            case .accepted(let descriptor): accepted(descriptor, at: now)
            case .disconnected(let descriptor), .closed(let descriptor):
                if let connection = connections.ended(descriptor) { ended.append(connection) }
            default: continue
            }
        }
        return ended
    }

    /// Registers a connection, or closes it if the limits are reached.
    private func accepted(_ descriptor: Int32, at now: Instant) {
        // It may have closed by now, with its number reused by another connection; the next event
        // then registers that one and replaces this entry.
        let socket = try? ExternalSocket(number: descriptor)
        let peer = try? PeerCredentials(socket: descriptor)
        // A process in another PID namespace has the number 0.
        let process = peer.flatMap { $0.processID > 0 ? $0.processID : nil }
        guard !connections.accepted(descriptor, of: process, socket, at: now) else { return }
        refusedConnections += 1
        _ = try? socket?.shutDown()
    }

    // MARK: - Sessions

    /// Begins the session of a connection, unless the limits are reached.
    func beginSession(_ connection: ConnectionLedger.Connection) -> ImageError? {
        let refusal = connections.beginSession(connection)
        if refusal != nil { refusedConnections += 1 }
        return refusal
    }

    // MARK: - Messages

    /// Receives the next message, whose parts are valid until the next call.
    func receive() throws(ZMQError) -> Bool {
        guard try frames.receive(from: socket) else { return false }
        let bytes = UInt64(frames.byteCount)
        traffic.messagesReceived += 1
        traffic.bytesReceived += bytes
        traffic.largestMessage = max(traffic.largestMessage, bytes)
        return true
    }

    /// The open connection from which the message came.
    var connection: ConnectionLedger.Connection? {
        frames.sourceDescriptor.flatMap { connections.current($0) }
    }

    /// Looks the message up among loads that were answered by hits.
    func find(in memo: HitMemo) -> (hit: HitMemo.Hit, token: Token)? {
        frames.withBody { memo.find($0) }
    }

    /// Sends a message with a body of known size, written by `fill`.
    func send(
        _ kind: MessageKind, byteCount: Int, to peer: RoutingID,
        fill: (UnsafeMutableRawBufferPointer) -> Void
    ) throws(ZMQError) -> SendOutcome {
        let outcome = try socket.send(kind, byteCount: byteCount, to: peer, fill: fill)
        if outcome == .sent { count(sent: byteCount + FrameHeader.byteCount) }
        return outcome
    }

    /// Sends the message that `encoder` encoded last.
    func send(
        _ message: EncodedMessage, from encoder: borrowing MessageEncoder, to peer: RoutingID
    ) throws(ZMQError) -> SendOutcome {
        let outcome = try socket.send(message, from: encoder, to: peer)
        if outcome == .sent { count(sent: message.byteCount + FrameHeader.byteCount) }
        return outcome
    }

    /// Sends the supported protocol versions to an incompatible peer, without guarantee of
    /// delivery.
    func refuseVersion(of peer: RoutingID) throws(ZMQError) {
        guard try socket.send(to: peer) == .sent else { return }
        let (header, body) = (VersionRefusal.header, VersionRefusal.body)
        _ = try socket.send(header.span.bytes, more: true)
        _ = try socket.send(body.span.bytes)
        count(sent: VersionRefusal.header.count + VersionRefusal.body.count)
    }

    private func count(sent bytes: Int) {
        traffic.messagesSent += 1
        traffic.bytesSent += UInt64(bytes)
        traffic.largestMessage = max(traffic.largestMessage, UInt64(bytes))
    }
}

/// The last message of a ROUTER socket: routing ID, header, body. If it is a batch, each of its
/// bodies becomes the current body in turn.
struct RoutedFrames: ~Copyable {
    private var reader = BodyReader(bodyInFrame: 2)

    /// Receives the next message.
    mutating func receive(from socket: borrowing Socket) throws(ZMQError) -> Bool {
        try reader.receive(from: socket)
    }

    /// Parses the message as a batch and returns the number of its bodies.
    mutating func openBatch() throws(WireError) -> Int { try reader.openBatch() }

    /// Selects one body of the batch.
    mutating func turn(to place: Int) { reader.turn(to: place) }

    /// The size of all frames except the routing ID, in bytes.
    var byteCount: Int {
        var sum = 0
        for index in 1..<max(1, reader.frames.count) {
            sum += reader.frames.bytes(at: index).byteCount
        }
        return sum
    }

    /// The sender; `nil` for a peer that chose its own identity, which programs of the stack never
    /// do.
    var sender: RoutingID? { reader.frames.routingID }

    /// The descriptor of the connection from which it came.
    var sourceDescriptor: Int32? { reader.frames.sourceDescriptor }

    /// Parses the header. Throws `notOurs` if there are not exactly two frames.
    borrowing func header() throws(WireError) -> FrameHeader {
        guard reader.frames.count == 3, !reader.frames.isOverlong else { throw .notOurs }
        return try FrameHeader(decoding: reader.frames.bytes(at: 1))
    }

    /// Passes the body to `read`; empty if there are not exactly two frames.
    borrowing func withBody<Result>(_ read: (RawSpan) -> Result) -> Result {
        read(reader.frames.count == 3 && !reader.frames.isOverlong ? reader.body : RawSpan())
    }

    /// Parses the body as a client's message.
    borrowing func clientMessage(
        _ kind: MessageKind, _ decoder: inout MessageDecoder
    ) throws(WireError) -> ClientMessage {
        try decoder.clientMessage(kind, reader.body)
    }

    /// Parses the body as a worker's message.
    borrowing func workerMessage(
        _ kind: MessageKind, _ decoder: inout MessageDecoder
    ) throws(WireError) -> WorkerMessage {
        try decoder.workerMessage(kind, reader.body)
    }
}

/// The connections of a listener: maps descriptors to connections and enforces limits.
///
/// Descriptors are reused immediately: a worker that died and one that has just connected may have
/// the same number. Therefore a session is identified by descriptor *and* ordinal.
struct ConnectionLedger {
    /// One connection, unique over the lifetime of this socket.
    struct Connection: Hashable {
        let descriptor: Int32
        let ordinal: UInt64
    }

    private struct Entry {
        let ordinal: UInt64
        let process: ProcessID?
        let socket: ExternalSocket?
        var hasSession = false
        /// Since when it has had no session.
        var silentSince: Instant
    }

    private let limits: ConnectionLimits
    private var open: [Int32: Entry] = [:]
    private var ordinals: UInt64 = 0
    private var connectionsOf = Tally()
    private var sessionsOf = Tally()

    init(_ limits: ConnectionLimits) { self.limits = limits }

    /// Registers an accepted connection; returns `false`, without registering it, if a limit is
    /// reached. If the `process` is unknown, only the listener's limit applies.
    mutating func accepted(
        _ descriptor: Int32, of process: ProcessID? = nil, _ socket: ExternalSocket? = nil,
        at now: Instant
    ) -> Bool {
        _ = ended(descriptor)
        guard open.count < limits.connectionsMax,
            connectionsOf[process] < limits.connectionsPerProcessMax
        else { return false }
        ordinals += 1
        open[descriptor] = Entry(
            ordinal: ordinals, process: process, socket: socket, silentSince: now)
        connectionsOf.add(process)
        return true
    }

    /// Removes a closed connection; `nil` if it was never registered.
    mutating func ended(_ descriptor: Int32) -> Connection? {
        guard let entry = open.removeValue(forKey: descriptor) else { return nil }
        connectionsOf.remove(entry.process)
        if entry.hasSession { sessionsOf.remove(entry.process) }
        return Connection(descriptor: descriptor, ordinal: entry.ordinal)
    }

    /// Returns the open connection of a descriptor; `nil` if it has closed by now.
    func current(_ descriptor: Int32) -> Connection? {
        open[descriptor].map { Connection(descriptor: descriptor, ordinal: $0.ordinal) }
    }

    /// Returns the process at the other end of an open connection; `nil` if it is in another PID
    /// namespace.
    func process(of connection: Connection) -> ProcessID? { entry(connection)?.process }

    /// The number of open connections.
    var count: Int { open.count }

    /// Whether any connection has no session.
    var hasSilent: Bool { open.count > sessionsOf.count }

    /// Begins a session for a connection, or returns why it can't.
    mutating func beginSession(_ connection: Connection) -> ImageError? {
        guard let entry = entry(connection), !entry.hasSession else { return nil }
        guard sessionsOf[entry.process] < limits.sessionsPerProcessMax else {
            return .busy(
                "this process has reached the limit of \(limits.sessionsPerProcessMax) "
                    + "connections; share a connection")
        }
        guard sessionsOf.count < limits.sessionsMax else {
            return .busy(
                "the listener has reached the limit of \(limits.sessionsMax) connections")
        }
        open[connection.descriptor]?.hasSession = true
        sessionsOf.add(entry.process)
        return nil
    }

    /// Ends a session; its connection may stay open.
    mutating func endSession(_ connection: Connection, at now: Instant) {
        guard let entry = entry(connection), entry.hasSession else { return }
        open[connection.descriptor]?.hasSession = false
        open[connection.descriptor]?.silentSince = now
        sessionsOf.remove(entry.process)
    }

    /// Returns the sockets of connections that have had no session for `milliseconds`.
    func silent(for milliseconds: Int, at now: Instant) -> [ExternalSocket] {
        open.values.compactMap { entry in
            let isDue = now >= entry.silentSince.adding(milliseconds: milliseconds)
            return !entry.hasSession && isDue ? entry.socket : nil
        }
    }

    private func entry(_ connection: Connection) -> Entry? {
        open[connection.descriptor].flatMap { $0.ordinal == connection.ordinal ? $0 : nil }
    }
}

/// Counts per process; items of unknown processes only count toward the sum.
private struct Tally {
    private(set) var count = 0
    private var byProcess: [ProcessID: Int] = [:]

    subscript(process: ProcessID?) -> Int { process.flatMap { byProcess[$0] } ?? 0 }

    mutating func add(_ process: ProcessID?) {
        count += 1
        if let process { byProcess[process, default: 0] += 1 }
    }

    mutating func remove(_ process: ProcessID?) {
        count -= 1
        guard let process, let known = byProcess[process] else { return }
        byProcess[process] = known > 1 ? known - 1 : nil
    }
}

/// The connection limits of a listener.
///
/// Limits are separate for each listener, so that clients at `front/` can't use up the connections
/// of operators and workers.
struct ConnectionLimits: Hashable {
    /// The maximum number of connections with a session.
    let sessionsMax: Int
    /// The maximum per process.
    var sessionsPerProcessMax = Int.max

    /// The maximum number of all connections. Larger than that of sessions, so that a rejected
    /// client can say hello and be told the reason.
    var connectionsMax: Int { sessionsMax + max(Self.margin, sessionsMax / 8) }
    /// The maximum number of all connections per process.
    var connectionsPerProcessMax: Int {
        sessionsPerProcessMax == .max ? .max : 2 * sessionsPerProcessMax
    }
}

extension ConnectionLimits {
    /// Computes the limits of one of the `listeners` for a process with this descriptor limit.
    init(
        _ listener: Listener, of listeners: [Listener] = Listener.all, descriptors: UInt64,
        perProcess: Int
    ) {
        switch listener {
        case .admin: self.init(sessionsMax: Self.operators)
        case .web: self.init(sessionsMax: Self.frontEnds, sessionsPerProcessMax: perProcess)
        case .back: self.init(sessionsMax: Self.workersOfAPool)
        case .front:
            let left = Int(clamping: descriptors) - Self.reserved(for: listeners)
            self.init(
                sessionsMax: min(max(left / 9 * 8, Self.clientsMin), Self.clientsMax),
                sessionsPerProcessMax: perProcess)
        }
    }

    /// The default limit of connections per client process, in which all tasks normally share one
    /// client.
    static let perProcess = 64
    /// Returns the minimum number of descriptors. With fewer, a flood of connections can still end
    /// the process, because libzmq aborts when it runs out of them.
    static func descriptorsMin(_ listeners: [Listener] = Listener.all) -> UInt64 {
        UInt64(reserved(for: listeners) + 9 * clientsMin / 8 + margin)
    }

    private static let operators = 64
    private static let frontEnds = 64
    private static let workersOfAPool = 256
    private static let clientsMin = 64
    private static let clientsMax = 8_192
    private static let margin = 32
    /// Descriptors for segments, files, and libzmq's internal use.
    private static let own = 256
    /// Returns the number of descriptors reserved for other purposes: the other listeners, internal
    /// use, and for each listener the connections that can be accepted before their events are
    /// read.
    private static func reserved(for listeners: [Listener]) -> Int {
        let others = listeners.filter { $0 != .front }.map {
            ConnectionLimits($0, descriptors: 0, perProcess: .max).connectionsMax
        }
        return own + others.reduce(0, +) + listeners.count * ListenerSocket.unseenConnectionsMax
    }
}
