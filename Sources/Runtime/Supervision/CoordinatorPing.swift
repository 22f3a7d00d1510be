import BusConnection
import Linux
import Messages
import Wire
import ZeroMQ

/// Asks the coordinator for its status on `admin/`, again and again, and counts the answers: a
/// process that lives and answers nobody has to be replaced (SEMANTICS §14.9). One thread; never
/// blocks.
///
/// Whatever it answers shows that it lives, be it that it has no place for one more session, or
/// that it is of another version.
final class CoordinatorPing {
    private let context: Context
    private var connection: BusConnection
    private var encoder = MessageEncoder()
    private var decoder = MessageDecoder()
    private var isUp = false
    private var isWelcome = false
    private let incarnation = Incarnation(
        Identifier128(high: Random.uint64(), low: Random.uint64()))
    /// Answers so far.
    private(set) var answers: UInt64 = 0
    private var report: StatusReport?
    private let secret: ListenerSecret?

    /// Connects in the background.
    init(adminEndpoint: String, secret: ListenerSecret?) throws {
        self.secret = secret
        let context = try Context()
        connection = try BusConnection(
            to: try Endpoint(parsing: adminEndpoint), in: context,
            frameBytesMax: MessageLimits.frontFrameBytesMax)
        self.context = context
    }

    /// Takes what was answered since the last call, and asks again.
    func turn() throws(ZMQError) {
        while let event = try connection.nextLinkEvent() {
            isUp = event == .up
            isWelcome = false
        }
        while try connection.receive() {
            answers += 1
            guard let answer = try? Self.decode(connection, &decoder) else { continue }
            switch answer {
            case .welcome: isWelcome = true
            case .helloRequired: isWelcome = false
            case .status(let report): self.report = report
            default: continue
            }
        }
        guard isUp else { return }
        // A hello may be lost with a place that was not free: it is said until it is answered.
        if !isWelcome { try say(.hello(hello)) }
        try say(.status)
    }

    /// The newest status that came since the last call.
    func takeReport() -> StatusReport? {
        defer { report = nil }
        return report
    }

    /// The stack drains: nobody asks any more.
    func leave() { try? say(.goodbye) }

    private var hello: ClientHello {
        ClientHello(
            incarnation: incarnation, pid: UInt32(CurrentProcess.processID),
            version: ProductVersion.text, secret: secret)
    }

    /// What finds no room is asked again in the next turn.
    private func say(_ message: ClientMessage) throws(ZMQError) {
        guard let encoded = try? encoder.encode(message) else { return }
        _ = try connection.socket.send(encoded, from: encoder)
    }

    private static func decode(
        _ connection: borrowing BusConnection, _ decoder: inout MessageDecoder
    ) throws(WireError) -> ServerMessage {
        guard connection.frameCount == 2 else { throw .notOurs }
        let header = try FrameHeader(decoding: connection.frame(0))
        return try decoder.serverMessage(header.kind, connection.frame(1))
    }
}
