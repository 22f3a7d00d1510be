import Wire

/// A client that costs a test one descriptor and no thread: it sends greeting, `READY` and hello,
/// and nothing more.
final class RawSession {
    private let stream: UnixStream

    /// Connects and sends a hello; nil if nothing listens.
    init?(_ path: String) throws {
        guard let stream = UnixStream(path) else { return nil }
        self.stream = stream
        stream.send(Self.greeting + Self.ready)
        // libzmq accepts no messages before it has sent `READY` itself. A rejected client receives
        // nothing.
        if stream.skip(Self.greeting.count + 1) { stream.send(try Self.hello()) }
    }

    /// ZMTP 3.0 without security.
    private static let greeting: [UInt8] =
        [0xFF] + Array(repeating: 0, count: 7) + [1, 0x7F, 3, 0]
        + Array("NULL".utf8) + Array(repeating: 0, count: 16 + 1 + 31)

    private static let ready: [UInt8] = {
        let type = Array("Socket-Type".utf8)
        let value = Array("DEALER".utf8)
        let name = Array("READY".utf8)
        let body =
            [UInt8(name.count)] + name + [UInt8(type.count)] + type
            + [0, 0, 0, UInt8(value.count)] + value
        return [4, UInt8(body.count)] + body
    }()

    private static func hello() throws -> [UInt8] {
        var encoder = MessageEncoder()
        let hello = ClientHello(
            incarnation: Incarnation(.random), pid: UInt32(CurrentProcess.processID),
            version: "test")
        let encoded = try encoder.encode(ClientMessage.hello(hello))
        let (head, body) = (encoded.header.bytes, encoder.packed())
        return [1, UInt8(head.count)] + head + [0, UInt8(body.count)] + body
    }
}
