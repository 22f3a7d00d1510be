import EventLoop
import Linux
import Messages
import TestKit
import Wire

/// A client that sees every message on the wire, where the library would hide a second reply.
final class WireClient {
    let peer: WirePeer
    private var encoder = MessageEncoder()
    private var decoder = MessageDecoder()

    /// Connects to a stack and introduces itself.
    init(_ stack: StackHarness) throws {
        peer = try WirePeer(stack.frontSocket)
        let hello = ClientHello(
            incarnation: Incarnation(.random), pid: UInt32(CurrentProcess.processID),
            version: "test")
        try send(.hello(hello))
        guard case .welcome = try receive(within: defaultTimeout) else {
            throw StackFailure("a client was not welcomed", log: stack.logFile)
        }
    }

    /// Says something.
    func send(_ message: ClientMessage) throws {
        let encoded = try encoder.encode(message)
        try peer.send([encoded.header.bytes, encoder.packed()])
    }

    /// What comes next; nil where nothing comes within the time.
    func receive(within limit: Duration = .zero) throws -> ServerMessage? {
        guard let frames = try peer.receive(within: limit) else { return nil }
        guard frames.count == 2 else { throw StackFailure("\(frames.count) frames came") }
        let (head, body) = (frames[0], frames[1])
        let header = try FrameHeader(decoding: head.span.bytes)
        return try decoder.serverMessage(header.kind, body.span.bytes)
    }
}

extension Identifier128 {
    /// New bits.
    static var random: Identifier128 {
        Identifier128(high: Random.uint64(), low: Random.uint64())
    }
}
