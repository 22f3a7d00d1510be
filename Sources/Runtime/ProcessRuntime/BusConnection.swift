import Linux
public import Model
public import Wire
public import ZeroMQ

/// The connecting side of the bus: one DEALER socket and the events of its connection. Confined to
/// one thread.
///
/// Each handshake opens a new session with the coordinator, and the end of a connection ends the
/// session. The owner therefore sends its hello after every `up` (PROTOCOL §5).
public struct BusConnection: ~Copyable {
    /// A change in the state of the connection.
    public enum LinkEvent: Hashable, Sendable {
        /// The handshake is complete: send hello.
        case up
        /// The peer disconnected; libzmq reconnects automatically.
        case down
        /// The first connection attempt failed; libzmq retries automatically.
        case unreached
        /// The peer runs as this user, which is not among `servers`: send nothing.
        case untrustedServer(userID: UInt32)
    }

    /// The socket, to be watched by the event loop.
    public let socket: Socket
    /// The connection monitor, to be watched by the event loop; drain it before the socket.
    public var monitor: SocketMonitor
    private var reader = BodyReader(bodyInFrame: 1)
    private let servers: Set<UInt32>?
    /// The user ID of the peer of the newest connection.
    private var server: UInt32?
    private var isUp = false
    private var wasReached = false
    /// How long closing waits for unsent messages.
    private static let lingerMilliseconds = 100

    /// Connects in the background. `servers`: the user IDs of which one must be at the other end;
    /// `nil` accepts any user.
    public init(
        to endpoint: Endpoint, in context: Context, frameBytesMax: Int,
        servers: Set<UInt32>? = nil
    ) throws(ZMQError) {
        var options = SocketOptions(frameBytesMax: frameBytesMax)
        // The last message is a goodbye: without it, an orderly shutdown looks like a crash.
        options.lingerMilliseconds = Self.lingerMilliseconds
        let dealer = try Socket(.dealer, in: context, options)
        // Must precede connecting, or the monitor misses the first events.
        let events = try SocketMonitor(dealer, in: context)
        try dealer.connect(endpoint)
        socket = dealer
        monitor = events
        self.servers = servers
    }

    /// Returns the next change of the connection; `nil` if there is none.
    public mutating func nextLinkEvent() throws(ZMQError) -> LinkEvent? {
        while let event = try monitor.next() {
            switch event {
            case .handshakeSucceeded:
                if let servers {
                    // If the connection has closed meanwhile, its end event follows.
                    guard let server else { continue }
                    guard servers.contains(server) else { return .untrustedServer(userID: server) }
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

    /// Receives the next message, whose frames are valid until the next call.
    public mutating func receive() throws(ZMQError) -> Bool { try reader.receive(from: socket) }

    /// Parses the message as a batch and returns the number of its bodies.
    public mutating func openBatch() throws(WireError) -> Int { try reader.openBatch() }

    /// Selects a body of the batch as the current `body`, until the next message is received.
    public mutating func turn(to place: Int) { reader.turn(to: place) }

    /// The current body: the second frame, or one body of a batch. Precondition: the message has
    /// two frames.
    public var body: RawSpan {
        @_lifetime(borrow self)
        borrowing get { reader.body }
    }

    /// The number of frames of the received message, or 0 if it has more than allowed.
    public var frameCount: Int { reader.frames.isOverlong ? 0 : reader.frames.count }

    /// Returns one frame of the received message.
    @_lifetime(borrow self)
    public borrowing func frame(_ index: Int) -> RawSpan { reader.frames.bytes(at: index) }
}

/// Receives messages and locates their bodies. If a message is a batch, each of its bodies becomes
/// the current body in turn.
public struct BodyReader: ~Copyable {
    /// The frames of the message that was received.
    public private(set) var frames: MessageReader
    private var batch = BatchReader()
    /// The index of the frame that contains the body.
    private let frame: Int
    /// The index of the current body in the batch; `nil` if the message is not a batch.
    private var place: Int?

    /// Creates a reader for messages with the body in this frame: 1 after a header, 2 if a routing
    /// ID comes first.
    public init(bodyInFrame frame: Int) {
        self.frame = frame
        frames = MessageReader(framesMax: MessageLimits.framesMax + frame - 1)
    }

    /// Receives the next message, whose parts are valid until the next call.
    public mutating func receive(from socket: borrowing Socket) throws(ZMQError) -> Bool {
        place = nil
        return try frames.receive(from: socket)
    }

    /// Parses the message as a batch and returns the number of its bodies. Precondition: the
    /// message has a body frame.
    public mutating func openBatch() throws(WireError) -> Int {
        try Self.read(frames, frame, into: &batch)
        return batch.count
    }

    private static func read(
        _ frames: borrowing MessageReader, _ frame: Int, into batch: inout BatchReader
    ) throws(WireError) {
        try batch.read(frames.bytes(at: frame))
    }

    /// Selects one body of the batch, until the next message is received.
    public mutating func turn(to place: Int) { self.place = place }

    /// The current body. Precondition: the message has a body frame.
    public var body: RawSpan {
        @_lifetime(borrow self)
        borrowing get {
            if let place { batch.body(at: place) } else { frames.bytes(at: frame) }
        }
    }
}

extension Socket {
    /// Sends the message that `encoder` encoded last, packed directly into libzmq's frame.
    ///
    /// Sends to `peer` through a ROUTER socket, or to the coordinator through a DEALER socket. The
    /// message is sent or dropped as a whole, depending on its first frame.
    public borrowing func send(
        _ message: EncodedMessage, from encoder: borrowing MessageEncoder,
        to peer: RoutingID? = nil
    ) throws(ZMQError) -> SendOutcome {
        try send(message.header.kind, byteCount: message.byteCount, to: peer) {
            encoder.pack(into: $0)
        }
    }

    /// Sends a message with a body of `byteCount` bytes, all of which `fill` writes in place.
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
