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
