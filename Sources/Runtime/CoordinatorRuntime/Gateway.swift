import BusConnection
import EventLoop
import Linux
import Messages
import SharedArena
import Wire
import ZeroMQ

/// One listener: its ROUTER, the events of its connections, and what went through it. One thread.
final class Gateway {
    let listener: Listener
    let socket: Socket
    private var monitor: SocketMonitor
    private var frames = RoutedFrames()
    private var connections: ConnectionLedger
    /// Connections that got no place: turned away, or refused at their hello.
    private(set) var refusedConnections: UInt64 = 0
    private(set) var traffic = Traffic()
    /// What the loop watches.
    private(set) var sources: (monitor: EventSource, socket: EventSource)?

    /// What went through a listener.
    struct Traffic {
        var messagesReceived: UInt64 = 0
        var messagesSent: UInt64 = 0
        var bytesReceived: UInt64 = 0
        var bytesSent: UInt64 = 0
        var largestMessage: UInt64 = 0
    }

    /// Events of connections that may wait in our part of the monitor's queue.
    private static let waitingEventsMax = 256
    /// Connections that libzmq may accept before it waits for us to look at them.
    static let unseenConnectionsMax = waitingEventsMax + SocketMonitor.senderEventsMax
    /// Milliseconds that a connection has for its hello.
    private static let silenceMilliseconds = 5_000

    /// Milliseconds for which last answers may be on their way at the end: an operator who asked
    /// for that end is told before.
    private static let lingerMilliseconds = 100

    /// Binds. The caller holds the coordinator's lock, so whatever lies at the path is a leftover.
    init(
        _ listener: Listener, in context: Context, paths: RuntimePaths, limits: ConnectionLimits
    ) throws {
        self.listener = listener
        connections = ConnectionLedger(limits)
        var options = SocketOptions(frameBytesMax: listener.frameBytesMax)
        options.lingerMilliseconds = Self.lingerMilliseconds
        options.sendQueueMax = 20_000
        options.receiveQueueMax = 20_000
        let router = try Socket(.router, in: context, options)
        monitor = try SocketMonitor(
            router, in: context, eventsMax: Self.waitingEventsMax)
        try router.bind(try Endpoint(parsing: listener.endpoint(in: paths)))
        // libzmq leaves it as the umask says.
        try FileDescriptor.openDirectory(listener.directory(in: paths))
            .setMode(listener.socketMode, of: listener.socketName)
        socket = router
    }

    /// Enters both sockets into the loop.
    func watch(in loop: inout EventLoop) {
        sources = (loop.add(monitor.socket), loop.add(socket))
    }

    /// Whether connections began or ended.
    func hasConnectionNews(in turn: EventLoop.Turn) -> Bool {
        sources.map { turn.ready.contains($0.monitor) } ?? false
    }

    /// Whether messages came.
    func hasMessages(in turn: EventLoop.Turn) -> Bool {
        sources.map { turn.ready.contains($0.socket) } ?? false
    }

    /// Connections that ended since the last call. Looks at no more events than may have waited
    /// when it began: whoever connects without end holds nobody up.
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

    /// Enters a connection, or turns it away.
    private func accepted(_ descriptor: Int32, at now: Instant) {
        // It may have closed by now, and its number stand for another one: then that one's
        // beginning is told next, and replaces what is entered here.
        let socket = try? ForeignSocket(number: descriptor)
        let peer = try? PeerCredentials(socket: descriptor)
        // A process of another PID namespace has the number 0.
        let process = peer.flatMap { $0.processID > 0 ? $0.processID : nil }
        guard !connections.accepted(descriptor, of: process, socket, at: now) else { return }
        refusedConnections += 1
        _ = try? socket?.shutDown()
    }

    // MARK: - Sessions

    /// The process at the other end; `nil` where it is in another PID namespace.
    func process(of connection: ConnectionLedger.Connection) -> ProcessID? {
        connections.process(of: connection)
    }

    /// The connection gets a session, unless there is no place for one more.
    func beginSession(_ connection: ConnectionLedger.Connection) -> ConnectionLedger.Refusal? {
        let refusal = connections.beginSession(connection)
        if refusal != nil { refusedConnections += 1 }
        return refusal
    }

    /// The session of a connection has ended.
    func endSession(_ connection: ConnectionLedger.Connection, at now: Instant) {
        connections.endSession(connection, at: now)
    }

    /// Whether some connections have no session.
    var hasSilent: Bool { connections.hasSilent }

    /// Closes connections that had time enough to say hello.
    func closeSilent(at now: Instant) {
        for socket in connections.silent(for: Self.silenceMilliseconds, at: now) {
            _ = try? socket.shutDown()
        }
    }

    // MARK: - Messages

    /// Takes the next message; its parts are valid until the next call.
    func receive() throws(ZMQError) -> Bool {
        guard try frames.receive(from: socket) else { return false }
        let bytes = UInt64(frames.byteCount)
        traffic.messagesReceived += 1
        traffic.bytesReceived += bytes
        traffic.largestMessage = max(traffic.largestMessage, bytes)
        return true
    }

    /// Who sent the message; `nil` for a peer that chose its own identity, which none of ours does.
    var sender: RoutingID? { frames.sender }

    /// The open connection through which the message came.
    var connection: ConnectionLedger.Connection? {
        frames.sourceDescriptor.flatMap { connections.current($0) }
    }

    /// Reads the header of the message.
    func header() throws(WireError) -> FrameHeader { try frames.header() }

    /// Reads the message as one of several loads, and returns how many.
    func openBatch() throws(WireError) -> Int { try frames.openBatch() }

    /// From now on *the message* is one load of those.
    func turn(to place: Int) { frames.turn(to: place) }

    /// Reads the message as a client's.
    func clientMessage(
        _ kind: MessageKind, _ decoder: inout MessageDecoder
    ) throws(WireError) -> ClientMessage {
        try frames.clientMessage(kind, &decoder)
    }

    /// Reads the message as a worker's.
    func workerMessage(
        _ kind: MessageKind, _ decoder: inout MessageDecoder
    ) throws(WireError) -> WorkerMessage {
        try frames.workerMessage(kind, &decoder)
    }

    /// Lends the body of the message.
    func withBody(_ read: (RawSpan) -> Void) { frames.withBody(read) }

    /// Looks for the message among loads that hits answered.
    func find(in memo: HitMemo) -> (hit: HitMemo.Hit, token: Token)? {
        frames.withBody { memo.find($0) }
    }

    /// Sends a message of which the body's bytes are known.
    func send(
        _ kind: MessageKind, byteCount: Int, to peer: RoutingID,
        fill: (UnsafeMutableRawBufferPointer) -> Void
    ) throws(ZMQError) -> SendOutcome {
        let outcome = try socket.send(kind, byteCount: byteCount, to: peer, fill: fill)
        if outcome == .sent { count(sent: byteCount + FrameHeader.byteCount) }
        return outcome
    }

    /// Sends what `encoder` encoded last.
    func send(
        _ message: EncodedMessage, from encoder: borrowing MessageEncoder, to peer: RoutingID
    ) throws(ZMQError) -> SendOutcome {
        let outcome = try socket.send(message, from: encoder, to: peer)
        if outcome == .sent { count(sent: message.byteCount + FrameHeader.byteCount) }
        return outcome
    }

    /// Tells a stranger which versions are spoken here; whether it arrives is its own affair.
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

/// The last message of a ROUTER: routing id, header, body. Where it is a batch, each of its bodies
/// in turn is *the* body.
struct RoutedFrames: ~Copyable {
    private var reader = BodyReader(bodyInFrame: 2)

    /// Takes the next message.
    mutating func receive(from socket: borrowing Socket) throws(ZMQError) -> Bool {
        try reader.receive(from: socket)
    }

    /// Reads the message as a batch, and returns how many bodies it has.
    mutating func openBatch() throws(WireError) -> Int { try reader.openBatch() }

    /// From now on one body of the batch is meant.
    mutating func turn(to place: Int) { reader.turn(to: place) }

    /// Bytes of all frames but the routing id.
    var byteCount: Int {
        var sum = 0
        for index in 1..<max(1, reader.frames.count) {
            sum += reader.frames.bytes(at: index).byteCount
        }
        return sum
    }

    /// Who sent it.
    var sender: RoutingID? { reader.frames.routingID }

    /// The descriptor of the connection it came through.
    var sourceDescriptor: Int32? { reader.frames.sourceDescriptor }

    /// Reads the header. Throws `notOurs` where the frames are not two.
    borrowing func header() throws(WireError) -> FrameHeader {
        guard reader.frames.count == 3, !reader.frames.isOverlong else { throw .notOurs }
        return try FrameHeader(decoding: reader.frames.bytes(at: 1))
    }

    /// Lends the body; empty where the frames are not two.
    borrowing func withBody<Result>(_ read: (RawSpan) -> Result) -> Result {
        read(reader.frames.count == 3 && !reader.frames.isOverlong ? reader.body : RawSpan())
    }

    /// Reads the body as a client's message.
    borrowing func clientMessage(
        _ kind: MessageKind, _ decoder: inout MessageDecoder
    ) throws(WireError) -> ClientMessage {
        try decoder.clientMessage(kind, reader.body)
    }

    /// Reads the body as a worker's message.
    borrowing func workerMessage(
        _ kind: MessageKind, _ decoder: inout MessageDecoder
    ) throws(WireError) -> WorkerMessage {
        try decoder.workerMessage(kind, reader.body)
    }
}

/// The connections of a gateway: which one a descriptor stands for at the moment, and whether there
/// is a place for one more.
///
/// Descriptors are reused at once: a worker that died and one that has just connected may have the
/// same number. A session therefore belongs to descriptor *and* ordinal.
struct ConnectionLedger {
    /// One connection, of all there ever were on this socket.
    struct Connection: Hashable {
        let descriptor: Int32
        let ordinal: UInt64
    }

    /// Why a connection gets no session.
    enum Refusal: Hashable {
        /// Its process has as many as one may have.
        case processIsFull(Int)
        /// The listener has.
        case listenerIsFull(Int)
    }

    private struct Entry {
        let ordinal: UInt64
        let process: ProcessID?
        let socket: ForeignSocket?
        var hasSession = false
        /// Since when it has none.
        var silentSince: Instant
    }

    private let limits: ConnectionLimits
    private var open: [Int32: Entry] = [:]
    private var ordinals: UInt64 = 0
    private var connectionsOf = Tally()
    private var sessionsOf = Tally()

    init(_ limits: ConnectionLimits) { self.limits = limits }

    /// The socket accepted a connection; `false` where there is no place for it: then it is not
    /// entered. Of a `process` that is not known only the listener's limit counts.
    mutating func accepted(
        _ descriptor: Int32, of process: ProcessID? = nil, _ socket: ForeignSocket? = nil,
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

    /// A connection ended; `nil` where it was never entered.
    mutating func ended(_ descriptor: Int32) -> Connection? {
        guard let entry = open.removeValue(forKey: descriptor) else { return nil }
        connectionsOf.remove(entry.process)
        if entry.hasSession { sessionsOf.remove(entry.process) }
        return Connection(descriptor: descriptor, ordinal: entry.ordinal)
    }

    /// The open connection of a descriptor; `nil` where it has closed by now.
    func current(_ descriptor: Int32) -> Connection? {
        open[descriptor].map { Connection(descriptor: descriptor, ordinal: $0.ordinal) }
    }

    /// The process at the other end of an open connection, where it is known.
    func process(of connection: Connection) -> ProcessID? { entry(connection)?.process }

    /// Open connections.
    var count: Int { open.count }

    /// Whether some have no session.
    var hasSilent: Bool { open.count > sessionsOf.count }

    /// A connection wants a session; where there is a place for it, it has one from now on.
    mutating func beginSession(_ connection: Connection) -> Refusal? {
        guard let entry = entry(connection), !entry.hasSession else { return nil }
        guard sessionsOf[entry.process] < limits.sessionsPerProcessMax else {
            return .processIsFull(limits.sessionsPerProcessMax)
        }
        guard sessionsOf.count < limits.sessionsMax else {
            return .listenerIsFull(limits.sessionsMax)
        }
        open[connection.descriptor]?.hasSession = true
        sessionsOf.add(entry.process)
        return nil
    }

    /// A session ended, and its connection may go on.
    mutating func endSession(_ connection: Connection, at now: Instant) {
        guard let entry = entry(connection), entry.hasSession else { return }
        open[connection.descriptor]?.hasSession = false
        open[connection.descriptor]?.silentSince = now
        sessionsOf.remove(entry.process)
    }

    /// The sockets of connections that have had no session for so long.
    func silent(for milliseconds: Int, at now: Instant) -> [ForeignSocket] {
        open.values.compactMap { entry in
            let isDue = now >= entry.silentSince.adding(milliseconds: milliseconds)
            return !entry.hasSession && isDue ? entry.socket : nil
        }
    }

    private func entry(_ connection: Connection) -> Entry? {
        open[connection.descriptor].flatMap { $0.ordinal == connection.ordinal ? $0 : nil }
    }
}

/// How many of something each process has; what belongs to none that is known counts in the sum.
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

/// How many connections a listener has places for.
///
/// Places are kept for each listener, so that nobody at `front/` can use up those of operators and
/// workers.
struct ConnectionLimits: Hashable {
    /// Connections with a session.
    let sessionsMax: Int
    /// Of one process.
    let sessionsPerProcessMax: Int

    /// Connections of all kinds. There are more than sessions, so that who finds no place can say
    /// hello and be told why.
    var connectionsMax: Int { sessionsMax + max(Self.margin, sessionsMax / 8) }
    /// The same of one process.
    var connectionsPerProcessMax: Int {
        sessionsPerProcessMax == .max ? .max : 2 * sessionsPerProcessMax
    }

    /// Limits of a listener, one of `listeners`, in a process that may have so many descriptors.
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

    init(sessionsMax: Int, sessionsPerProcessMax: Int = .max) {
        self.sessionsMax = sessionsMax
        self.sessionsPerProcessMax = sessionsPerProcessMax
    }

    /// Connections of one client process unless the operator says otherwise: a client shares one
    /// among all its tasks.
    static let perProcess = 64
    /// With fewer descriptors a flood of connections may still end the process: libzmq aborts
    /// where it has none left.
    static func descriptorsMin(_ listeners: [Listener] = Listener.all) -> UInt64 {
        UInt64(reserved(for: listeners) + 9 * clientsMin / 8 + margin)
    }

    private static let operators = 64
    private static let frontEnds = 64
    private static let workersOfAPool = 256
    private static let clientsMin = 64
    private static let clientsMax = 8_192
    private static let margin = 32
    /// Segments, files, and what libzmq has for itself.
    private static let own = 256
    /// Descriptors that are not for clients: those of the other listeners, our own, and of each
    /// listener as many as may be accepted before anybody looks at them.
    private static func reserved(for listeners: [Listener]) -> Int {
        let others = listeners.filter { $0 != .front }.map {
            ConnectionLimits($0, descriptors: 0, perProcess: .max).connectionsMax
        }
        return own + others.reduce(0, +) + listeners.count * Gateway.unseenConnectionsMax
    }
}
