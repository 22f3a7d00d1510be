import Messages
import Wire
import ZeroMQ

/// The last message of a ROUTER: routing id, header, body. Where it is a batch, each of its bodies
/// in turn is *the* body.
struct RoutedFrames: ~Copyable {
    private var reader = MessageReader(framesMax: MessageLimits.framesMax + 1)
    private var batch = BatchReader()
    /// Which body of the batch it is; `nil`: the message is one.
    private var place: Int?

    /// Takes the next message.
    mutating func receive(from socket: borrowing Socket) throws(ZMQError) -> Bool {
        place = nil
        return try reader.receive(from: socket)
    }

    /// Reads the message as a batch, and returns how many bodies it has.
    mutating func openBatch() throws(WireError) -> Int {
        try Self.read(reader, into: &batch)
        return batch.count
    }

    private static func read(
        _ reader: borrowing MessageReader, into batch: inout BatchReader
    ) throws(WireError) {
        try batch.read(reader.bytes(at: 2))
    }

    /// From now on one body of the batch is meant.
    mutating func turn(to place: Int) { self.place = place }

    @_lifetime(borrow self)
    private borrowing func body() -> RawSpan {
        if let place { batch.body(at: place) } else { reader.bytes(at: 2) }
    }

    /// Bytes of all frames but the routing id.
    var byteCount: Int {
        var sum = 0
        for index in 1..<max(1, reader.count) { sum += reader.bytes(at: index).byteCount }
        return sum
    }

    /// Who sent it.
    var sender: RoutingID? { reader.routingID }

    /// The descriptor of the connection it came through.
    var sourceDescriptor: Int32? { reader.sourceDescriptor }

    /// Reads the header. Throws `notOurs` where the frames are not two.
    borrowing func header() throws(WireError) -> FrameHeader {
        guard reader.count == 3, !reader.isOverlong else { throw .notOurs }
        return try FrameHeader(decoding: reader.bytes(at: 1))
    }

    /// Lends the body; empty where the frames are not two.
    borrowing func withBody<Result>(_ read: (RawSpan) -> Result) -> Result {
        read(reader.count == 3 && !reader.isOverlong ? body() : RawSpan())
    }

    /// Reads the body as a client's message.
    borrowing func clientMessage(
        _ kind: MessageKind, _ decoder: inout MessageDecoder
    ) throws(WireError) -> ClientMessage {
        try decoder.clientMessage(kind, body())
    }

    /// Reads the body as a worker's message.
    borrowing func workerMessage(
        _ kind: MessageKind, _ decoder: inout MessageDecoder
    ) throws(WireError) -> WorkerMessage {
        try decoder.workerMessage(kind, reader.bytes(at: 2))
    }
}
