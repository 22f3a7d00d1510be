import ProcessRuntime
import Wire

/// A client that sees every message on the wire; the library would hide a duplicate reply.
final class WireClient {
    let peer: WirePeer
    private var encoder = MessageEncoder()
    private var decoder = MessageDecoder()

    /// Connects to a stack and sends its hello.
    init(_ stack: StackHarness, takesBatches: Bool = false, socket: String? = nil) throws {
        peer = try WirePeer(socket ?? stack.frontSocket)
        let hello = ClientHello(
            incarnation: Incarnation(.random), pid: UInt32(CurrentProcess.processID),
            version: "test", takesBatches: takesBatches)
        try send(.hello(hello))
        guard case .welcome = try receive(within: defaultTimeout) else {
            throw StackFailure("a client was not welcomed", log: stack.logFile)
        }
    }

    /// Sends a message.
    func send(_ message: ClientMessage) throws {
        let encoded = try encoder.encode(message)
        try peer.send([encoded.header.bytes, encoder.packed()])
    }

    /// Sends several loads in one message.
    func send(bodies: [[UInt8]]) throws {
        // Protobuf encoding: field 1, its length as a varint, its bytes.
        let message = bodies.flatMap { body -> [UInt8] in
            precondition(body.count < 1 << 14, "two bytes say the length")
            return [0x0A, UInt8(body.count & 0x7F) | 0x80, UInt8(body.count >> 7)] + body
        }
        try peer.send([FrameHeader(kind: .loads).bytes, message])
    }

    /// The body of a message.
    func body(_ message: ClientMessage) throws -> [UInt8] {
        _ = try encoder.encode(message)
        return encoder.packed()
    }

    /// The replies in the next message, and whether it is a batch.
    func receiveReplies() throws -> (replies: [ServerMessage], isBatch: Bool) {
        guard let frames = try peer.receive(within: defaultTimeout), frames.count == 2 else {
            throw StackFailure("no message came")
        }
        let (head, message) = (frames[0], frames[1])
        let kind = try FrameHeader(decoding: head.span.bytes).kind
        guard kind == .replies else {
            return ([try decoder.serverMessage(kind, message.span.bytes)], false)
        }
        var batch = BatchReader()
        try batch.read(message.span.bytes)
        let bodies = (0..<batch.count).map { place in
            batch.body(at: place).withUnsafeBytes { Array($0) }
        }
        return (try bodies.map { try decoder.serverMessage(.reply, $0.span.bytes) }, true)
    }

    /// The next message; nil if none arrives within `limit`.
    func receive(within limit: Duration = .zero) throws -> ServerMessage? {
        guard let frames = try peer.receive(within: limit) else { return nil }
        guard frames.count == 2 else { throw StackFailure("\(frames.count) frames came") }
        let (head, body) = (frames[0], frames[1])
        let header = try FrameHeader(decoding: head.span.bytes)
        return try decoder.serverMessage(header.kind, body.span.bytes)
    }
}

extension Identifier128 {
    /// A random identifier.
    static var random: Identifier128 {
        Identifier128(high: Random.uint64(), low: Random.uint64())
    }
}
