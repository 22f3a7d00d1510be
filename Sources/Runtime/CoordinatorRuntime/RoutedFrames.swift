import BusConnection
import Messages
import Wire
import ZeroMQ

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
