import Linux
import Model
import ProcessRuntime
import Synchronization
import Wire
import ZeroMQ

/// The client's connection to the coordinator: the DEALER socket, the pending requests and the
/// mapped results. Run by one thread at a time, the one that owns the loop (`LoopOwnership`).
struct ClientConnection: ~Copyable {
    let commands: CommandQueue
    let executor: ConnectionExecutor
    var loop: EventLoop
    let sources: (monitor: EventSource, bus: EventSource, mailbox: EventSource)
    var connection: BusConnection
    let results: ResultReader
    let copies: BufferPool
    /// Answers that can be repeated without a message.
    let answers: RepeatedAnswers
    /// When to report used vouchers to the coordinator.
    var usedDue: Instant?
    /// When to check for unlinked segments.
    var nextLook: Instant?
    var encoder = MessageEncoder()
    var decoder = MessageDecoder()
    var loads = LoadMemo()
    var replies = ReplyMemo()
    /// Collects loads that are sent as one message.
    var leavingLoads = BatchWriter()
    var loadsMax = 0
    /// Commands taken in the current turn; kept to reuse its memory.
    var taken: [ClientCommand] = []
    let configuration: ClientConfiguration
    var pending: PendingRequests
    var chunks: IncomingChunks
    var uploads = UploadQueue()
    var prefetches: PendingPrefetches
    var inquiries: OpenInquiries
    var outbox: [OutgoingMessage] = []
    var releases: [BlockID] = []
    var isWelcome = false
    /// Why the coordinator refused a session.
    var refusal: ImageError?
    var isClosed = false
    /// Whether to close once nothing is pending.
    var endsWhenIdle = false
    /// The result once the connection has ended.
    var end: End?
    let incarnation = Incarnation(
        Identifier128(high: Random.uint64(), low: Random.uint64()))

    /// The largest number of messages handled per turn.
    private static let messagesPerTurnMax = 512
    /// The number of chunks handled per turn: fewer than half of a window, so that acknowledgments
    /// are sent in time.
    private static let chunksPerTurn = 16
    /// Handles half of what is in flight per turn and then sends what follows from it, so that the
    /// coordinator works on one half while this thread works on the other.
    var messagesPerTurn: Int {
        let leastCount = chunks.isEmpty ? 1 : Self.chunksPerTurn
        return min(Self.messagesPerTurnMax, max(leastCount, pending.sentCount / 2))
    }
    /// The delay before sending again when the queue to the coordinator is full, in milliseconds.
    static let retryMilliseconds = 5

    init(
        _ configuration: ClientConfiguration, _ commands: CommandQueue,
        _ executor: ConnectionExecutor, _ answers: RepeatedAnswers, _ copies: BufferPool
    ) throws {
        let connection = try BusConnection(
            to: try Endpoint(path: configuration.endpoint), in: try Context(),
            frameBytesMax: MessageLimits.frontFrameBytesMax, servers: configuration.servers)
        var loop = EventLoop(sourcesMax: 3)
        sources = (
            loop.add(connection.monitor.socket), loop.add(connection.socket),
            loop.add(descriptor: commands.queue.descriptor)
        )
        self.loop = loop
        (self.answers, self.copies) = (answers, copies)
        (self.commands, self.executor) = (commands, executor)
        self.connection = connection
        results = ResultReader(resultsDirectory: configuration.resultsDirectory)
        self.configuration = configuration
        pending = PendingRequests(
            connectTimeoutMilliseconds: configuration.connectTimeoutMilliseconds,
            mayAskForChunks: configuration.delivery != .mapped,
            sharesLoads: configuration.sharesLoads)
        prefetches = PendingPrefetches(
            connectTimeoutMilliseconds: configuration.connectTimeoutMilliseconds)
        inquiries = OpenInquiries(
            connectTimeoutMilliseconds: configuration.connectTimeoutMilliseconds)
        chunks = IncomingChunks(bytesMax: configuration.chunkedImageBytesMax)
    }
}

// One turn of the connection's loop: wait, handle what arrived, send what is queued.
extension ClientConnection {
    /// Why the connection ended.
    struct End {
        /// `nil` if the client was closed.
        let error: (any Error)?
    }

    /// Whether nothing is pending or queued, so that the loop can be left without a thread.
    var isIdle: Bool {
        end == nil && !isPending && outbox.isEmpty && releases.isEmpty && isWelcome
            && !executor.isBusy
    }

    /// Whether any request is pending.
    private var isPending: Bool {
        !pending.isEmpty || !prefetches.isEmpty || !inquiries.isEmpty
    }

    /// Runs one turn. Returns why the connection ended, or `nil` if it continues.
    mutating func turn() -> End? {
        if let end { return end }
        do {
            commands.isTurning.store(false, ordering: .sequentiallyConsistent)
            let isBusy = !commands.queue.isEmpty || executor.isBusy
            let turn = try loop.wait(until: isBusy ? Instant(nanoseconds: 0) : nextDeadline)
            commands.isTurning.store(true, ordering: .sequentiallyConsistent)
            let now = turn.wokenAt
            let isChanged = turn.ready.contains(sources.monitor)
            // Messages that a coordinator sent before it ended still count, so they are read before
            // link events.
            if isChanged || turn.ready.contains(sources.bus) { try drainBus(at: now) }
            if isChanged { try drainMonitor(at: now) }
            executor.runWaiting()
            if turn.ready.contains(sources.mailbox) { commands.queue.quiet() }
            drainCommands(at: now)
            perform(pending.expire(at: now), at: now)
            prefetches.expire(at: now)
            inquiries.expire(at: now)
            lookAfterAnswers(at: now)
            if endsWhenIdle, !isClosed, !isPending { close(at: now) }
            try sendOutbox()
            if isClosed { end = End(error: nil) }
        } catch {
            fail(.lineEnded(error))
            end = End(error: error)
        }
        return end
    }

    /// Ends everything pending with an error when the connection cannot continue.
    private mutating func fail(_ error: ImageError) {
        let now = Instant.now()
        perform(pending.closed(with: error), at: now)
        prefetches.closed(with: error)
        inquiries.close(with: error)
    }

    /// Submits a load and runs the loop on the calling thread until the load has ended.
    mutating func run(_ load: PendingLoad) {
        let task = load.task
        let now = Instant.now()
        perform(pending.submitted(load, at: now), at: now)
        do {
            try sendOutbox()
        } catch {
            end = End(error: error)
        }
        while !task.hasEnded {
            guard turn() == nil else { break }
        }
        // The connection ended before the load did.
        if !task.hasEnded { task.finish(.failure(.lineEnded(end?.error))) }
    }

    private var nextDeadline: Instant? {
        var next = pending.nextDeadline
        func expect(_ moment: Instant) { next = next.map { min($0, moment) } ?? moment }
        if isWelcome, !outbox.isEmpty || uploads.next != nil || prefetches.hasNext {
            expect(Instant.now().adding(milliseconds: Self.retryMilliseconds))
        }
        if let deadline = inquiries.nextDeadline { expect(deadline) }
        if let usedDue { expect(usedDue) }
        if let nextLook { expect(nextLook) }
        if let deadline = prefetches.nextDeadline { expect(deadline) }
        return next
    }
}

extension ImageError {
    static func lineEnded(_ error: (any Error)?) -> ImageError {
        guard let error else { return .clientClosed }
        if let error = error as? ImageError { return error }
        return ImageError(.internalError, "the client cannot continue: \(error)")
    }
}

/// A message queued for the coordinator.
enum OutgoingMessage {
    /// A load; it is encoded when it is sent.
    case load(PendingLoad)
    indirect case other(ClientMessage)

    var isLoad: Bool { if case .load = self { true } else { false } }
}
