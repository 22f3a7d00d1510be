import Messages
import Wire
import ZeroMQ

/// The last message of a ROUTER: routing id, header, body.
struct RoutedFrames: ~Copyable {
    private var reader = MessageReader(framesMax: MessageLimits.framesMax + 1)

    /// Takes the next message.
    mutating func receive(from socket: borrowing Socket) throws(ZMQError) -> Bool {
        try reader.receive(from: socket)
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
        read(reader.count == 3 && !reader.isOverlong ? reader.bytes(at: 2) : RawSpan())
    }

    /// Reads the body as a client's message.
    borrowing func clientMessage(
        _ kind: MessageKind, _ decoder: inout MessageDecoder
    ) throws(WireError) -> ClientMessage {
        try decoder.clientMessage(kind, reader.bytes(at: 2))
    }

    /// Reads the body as a worker's message.
    borrowing func workerMessage(
        _ kind: MessageKind, _ decoder: inout MessageDecoder
    ) throws(WireError) -> WorkerMessage {
        try decoder.workerMessage(kind, reader.bytes(at: 2))
    }
}
