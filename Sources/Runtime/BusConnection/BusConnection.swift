import Linux
public import Messages
public import Wire
public import ZeroMQ

/// The connecting side of the bus: one DEALER and the events of its connection. One thread.
///
/// A handshake opens a new session with the coordinator, the end of a connection ends it: whoever
/// owns this introduces itself after each `up` (PROTOCOL §5).
public struct BusConnection: ~Copyable {
    /// What became of the connection.
    public enum LinkEvent: Hashable, Sendable {
        /// The handshake is done: say hello.
        case up
        /// The peer has gone; libzmq tries again by itself.
        case down
        /// Nobody took the first connection; libzmq tries again by itself.
        case unreached
        /// The peer is none of `servers` but this user: say nothing.
        case stranger(userID: UInt32)
    }

    /// For the event loop.
    public let socket: Socket
    /// For the event loop; drain it before the socket.
    public var monitor: SocketMonitor
    private var reader = BodyReader(bodyInFrame: 1)
    private let servers: Set<UInt32>?
    /// The user who listens at the other end of the newest connection.
    private var server: UInt32?
    private var isUp = false
    private var wasReached = false
    /// For how long a close waits for messages that were not sent.
    private static let lingerMilliseconds = 100

    /// Connects in the background. `servers`: users of whom one has to be at the other end; `nil`:
    /// whoever it is.
    public init(
        to endpoint: Endpoint, in context: Context, frameBytesMax: Int,
        servers: Set<UInt32>? = nil
    ) throws(ZMQError) {
        var options = SocketOptions(frameBytesMax: frameBytesMax)
        // The last message is a goodbye: without it an orderly end looks like a death.
        options.lingerMilliseconds = Self.lingerMilliseconds
        let dealer = try Socket(.dealer, in: context, options)
        // Before the connection, or its first events are missed.
        let events = try SocketMonitor(dealer, in: context)
        try dealer.connect(endpoint)
        socket = dealer
        monitor = events
        self.servers = servers
    }

    /// The next change of the connection; `nil` when nothing changed since.
    public mutating func nextLinkEvent() throws(ZMQError) -> LinkEvent? {
        while let event = try monitor.next() {
            switch event {
            case .handshakeSucceeded:
                if let servers {
                    // One that has closed by now is followed by its end.
                    guard let server else { continue }
                    guard servers.contains(server) else { return .stranger(userID: server) }
                }
                isUp = true
                return .up
            case .disconnected where isUp:
                isUp = false
                return .down
            case .connected(let descriptor):
                wasReached = true
                if servers != nil { server = try? PeerCredentials(socket: descriptor).userID }
            case .connectRetried where !wasReached:
                wasReached = true
                return .unreached
            default: continue
            }
        }
        return nil
    }

    /// Takes the next message. Its frames are valid until the next call.
    public mutating func receive() throws(ZMQError) -> Bool { try reader.receive(from: socket) }

    /// Reads the message as a batch, and returns how many bodies it has.
    public mutating func openBatch() throws(WireError) -> Int { try reader.openBatch() }

    /// From now on `body` is one of the batch, until the next message is taken.
    public mutating func turn(to place: Int) { reader.turn(to: place) }

    /// The body that is to be read: the second frame, or one of a batch. A precondition: there are
    /// two frames.
    public var body: RawSpan {
        @_lifetime(borrow self)
        borrowing get { reader.body }
    }

    /// Frames of the message that was received; more than allowed reads as none.
    public var frameCount: Int { reader.frames.isOverlong ? 0 : reader.frames.count }

    /// One frame of the message that was received.
    @_lifetime(borrow self)
    public borrowing func frame(_ index: Int) -> RawSpan { reader.frames.bytes(at: index) }
}

/// Takes messages, and knows their bodies. Where a message is a batch, each of its bodies in turn
/// is *the* body.
public struct BodyReader: ~Copyable {
    /// The frames of the message that was received.
    public private(set) var frames: MessageReader
    private var batch = BatchReader()
    /// Which frame has the body.
    private let frame: Int
    /// Which body of the batch it is; `nil`: the message is one.
    private var place: Int?

    /// For messages with the body in that frame: 1 behind a header, 2 behind a routing id as well.
    public init(bodyInFrame frame: Int) {
        self.frame = frame
        frames = MessageReader(framesMax: MessageLimits.framesMax + frame - 1)
    }

    /// Takes the next message. Its parts are valid until the next call.
    public mutating func receive(from socket: borrowing Socket) throws(ZMQError) -> Bool {
        place = nil
        return try frames.receive(from: socket)
    }

    /// Reads the message as a batch, and returns how many bodies it has. A precondition: it has the
    /// frame of the body.
    public mutating func openBatch() throws(WireError) -> Int {
        try Self.read(frames, frame, into: &batch)
        return batch.count
    }

    private static func read(
        _ frames: borrowing MessageReader, _ frame: Int, into batch: inout BatchReader
    ) throws(WireError) {
        try batch.read(frames.bytes(at: frame))
    }

    /// From now on one body of the batch is meant, until the next message is taken.
    public mutating func turn(to place: Int) { self.place = place }

    /// The body that is to be read. A precondition: the message has the frame of it.
    public var body: RawSpan {
        @_lifetime(borrow self)
        borrowing get {
            if let place { batch.body(at: place) } else { frames.bytes(at: frame) }
        }
    }
}

extension Socket {
    /// Sends the message that `encoder` encoded last, packed straight into libzmq's frame.
    ///
    /// To `peer` through a ROUTER, to the coordinator through a DEALER. What becomes of the first
    /// frame becomes of the message. Throws `terminated`.
    public borrowing func send(
        _ message: EncodedMessage, from encoder: borrowing MessageEncoder,
        to peer: RoutingID? = nil
    ) throws(ZMQError) -> SendOutcome {
        try send(message.header.kind, byteCount: message.byteCount, to: peer) {
            encoder.pack(into: $0)
        }
    }

    /// Sends a message whose body of `byteCount` bytes `fill` writes in place, all of it.
    public borrowing func send(
        _ kind: MessageKind, byteCount: Int, to peer: RoutingID? = nil,
        fill: (UnsafeMutableRawBufferPointer) -> Void
    ) throws(ZMQError) -> SendOutcome {
        if let peer {
            let routed = try send(to: peer)
            guard routed == .sent else { return routed }
        }
        let header = FrameHeader(kind: kind).encoded
        let first = try send(header.span.bytes, more: true)
        guard first == .sent else { return first }
        return try send(byteCount: byteCount, fill: fill)
    }
}
