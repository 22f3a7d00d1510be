import Messages
public import Wire
public import ZeroMQ

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
