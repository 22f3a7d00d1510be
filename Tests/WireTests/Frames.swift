import Model

@testable import Wire

/// Both frames of a message as arrays, and back.
struct Frames: Hashable {
    var header: [UInt8]
    var body: [UInt8]

    init(header: [UInt8], body: [UInt8]) {
        self.header = header
        self.body = body
    }

    init(_ kind: MessageKind, _ body: ProtobufBytes) {
        self.init(header: FrameHeader(kind: kind).bytes, body: body.bytes)
    }

    init(_ message: WorkerMessage) throws(WireError) {
        var encoder = MessageEncoder()
        let encoded = try encoder.encode(message)
        self.init(header: encoded.header.bytes, body: encoder.packed())
    }

    init(_ command: WorkerCommand) throws(WireError) {
        var encoder = MessageEncoder()
        let encoded = try encoder.encode(command)
        self.init(header: encoded.header.bytes, body: encoder.packed())
    }

    init(_ message: ClientMessage) throws(WireError) {
        var encoder = MessageEncoder()
        let encoded = try encoder.encode(message)
        self.init(header: encoded.header.bytes, body: encoder.packed())
    }

    init(_ message: ServerMessage) throws(WireError) {
        var encoder = MessageEncoder()
        let encoded = try encoder.encode(message)
        self.init(header: encoded.header.bytes, body: encoder.packed())
    }

    func kind() throws(WireError) -> MessageKind {
        try FrameHeader(decoding: header.span.bytes).kind
    }

    func workerMessage() throws(WireError) -> WorkerMessage {
        var decoder = MessageDecoder()
        return try decoder.workerMessage(try kind(), body.span.bytes)
    }

    func workerCommand() throws(WireError) -> WorkerCommand {
        var decoder = MessageDecoder()
        return try decoder.workerCommand(try kind(), body.span.bytes)
    }

    func clientMessage() throws(WireError) -> ClientMessage {
        var decoder = MessageDecoder()
        return try decoder.clientMessage(try kind(), body.span.bytes)
    }

    func serverMessage() throws(WireError) -> ServerMessage {
        var decoder = MessageDecoder()
        return try decoder.serverMessage(try kind(), body.span.bytes)
    }
}
