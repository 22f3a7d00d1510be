import ProcessRuntime
import Wire

/// A worker of any kind, controlled by a test, which can send false outcomes.
final class WireWorker {
    let peer: WirePeer
    /// Its incarnation, as sent in its hello.
    let incarnation = Incarnation(.random)
    private var encoder = MessageEncoder()
    private var decoder = MessageDecoder()

    /// Connects to the listener of `kind` and sends its hello with a credit of `credit` jobs.
    convenience init(_ kind: WorkerKind, _ stack: StackHarness, credit: UInt32) throws {
        try self.init(
            at: stack.backSocket(kind), stack, credit: credit, secret: stack.listenerSecret(kind))
        // The configured settings follow the welcome (PROTOCOL §8).
        guard kind == .download else { return }
        guard case .downloadSettings = try receive(within: defaultTimeout) else {
            throw StackFailure("a worker was not told its settings", log: stack.logFile)
        }
    }

    /// The same for the listener of an external pool.
    convenience init(
        external pool: String, _ stack: StackHarness, credit: UInt32 = 1,
        _ capabilities: WorkerCapabilities = .all, takesReleases: Bool = false
    ) throws {
        let listener = "\(stack.runtimeDirectory)/back/\(pool)"
        let secret = try FileDescriptor.open("\(listener)/secret").readToEnd(bytesMax: 64)
        try self.init(
            at: "\(listener)/back.sock", stack, credit: credit, secret: ListenerSecret(secret),
            capabilities, takesReleases: takesReleases)
    }

    private init(
        at socket: String, _ stack: StackHarness, credit: UInt32, secret: ListenerSecret?,
        _ capabilities: WorkerCapabilities = .all, takesReleases: Bool = false
    ) throws {
        peer = try WirePeer(socket)
        let hello = WorkerHello(
            incarnation: incarnation, pid: UInt32(CurrentProcess.processID), restarts: 0,
            version: "test", credit: credit, secret: secret, capabilities: capabilities,
            takesReleases: takesReleases)
        try send(.hello(hello))
        guard case .welcome = try receive(within: defaultTimeout) else {
            throw StackFailure("a worker was not welcomed", log: stack.logFile)
        }
    }

    /// Sends a message; `altered` may change the bytes of the body.
    func send(
        _ message: WorkerMessage, altered: ([UInt8]) -> [UInt8] = { $0 }
    ) throws {
        let encoded = try encoder.encode(message)
        try peer.send([encoded.header.bytes, altered(encoder.packed())])
    }

    /// The next message; nil if none arrives within `limit`.
    func receive(within limit: Duration = .zero) throws -> WorkerCommand? {
        guard let frames = try peer.receive(within: limit) else { return nil }
        guard frames.count == 2 else { throw StackFailure("\(frames.count) frames came") }
        let (head, body) = (frames[0], frames[1])
        let header = try FrameHeader(decoding: head.span.bytes)
        return try decoder.workerCommand(header.kind, body.span.bytes)
    }

    /// The next job; nil if none arrives within `limit`.
    func job(within limit: Duration) throws -> Job? {
        let deadline = Instant.now().adding(milliseconds: limit.milliseconds)
        while Instant.now() < deadline {
            if case .job(let job) = try receive(within: .milliseconds(50)) { return job }
        }
        return nil
    }

    /// Whether the coordinator rejects the worker within `limit`.
    func isRefused(within limit: Duration = defaultTimeout) throws -> Bool {
        let deadline = Instant.now().adding(milliseconds: limit.milliseconds)
        while Instant.now() < deadline {
            if case .refused = try receive(within: .milliseconds(50)) { return true }
        }
        return false
    }
}
