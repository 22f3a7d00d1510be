import BusConnection
import EventLoop
import ImageModel
import Linux
import Messages
import SharedArena
import Synchronization
import Wire
import ZeroMQ

/// The DEALER, the pending requests and the mapped results. Run by one thread at a time: whoever
/// has the lead (`LoopLeadership`).
struct ClientLine: ~Copyable {
    let commands: CommandQueue
    let executor: LineExecutor
    let context: Context
    var loop: EventLoop
    let sources: (monitor: EventSource, bus: EventSource, mailbox: EventSource)
    var connection: BusConnection
    let results: ResultReader
    let copies: CopyPool
    /// What is given again without asking.
    let answers: RepeatedAnswers
    /// When the coordinator is told what was used of it.
    var usedDue: Instant?
    /// When segments that were given up are looked for.
    var nextLook: Instant?
    var encoder = MessageEncoder()
    var decoder = MessageDecoder()
    var loads = LoadMemo()
    var replies = ReplyMemo()
    /// Loads that go out as one message, and how many may.
    var leavingLoads = BatchWriter()
    var loadsMax = 0
    /// Orders of one turn.
    var taken: [ClientOrder] = []
    let configuration: ClientConfiguration
    var pending: PendingRequests
    var pieces: IncomingPieces
    var uploads = UploadQueue()
    var prefetches: PendingPrefetches
    var prefetchTasks: [Token: PrefetchTask] = [:]
    var inquiries: OpenInquiries
    var outbox: [OutgoingMessage] = []
    var releases: [BlockID] = []
    var isWelcome = false
    /// Why the coordinator gave this connection no session.
    var refusal: ImageError?
    var isClosed = false
    /// It is closed once nothing is pending.
    var endsWhenIdle = false
    /// Nothing is done any more.
    var end: End?
    let incarnation = Incarnation(
        Identifier128(high: Random.uint64(), low: Random.uint64()))

    /// Messages of one turn at most.
    private static let messagesPerTurnMax = 512
    /// Pieces of one turn: fewer than half of a window, so that what is taken is said in time.
    private static let piecesPerTurn = 16
    /// Of what is under way one half is taken in a turn, and what follows from it is sent, so that
    /// the coordinator works at the one half while this thread works at the other.
    var messagesPerTurn: Int {
        let leastCount = pieces.isEmpty ? 1 : Self.piecesPerTurn
        return min(Self.messagesPerTurnMax, max(leastCount, pending.sentCount / 2))
    }
    /// Milliseconds after which a full queue to the coordinator is tried again.
    static let retryMilliseconds = 5

    init(
        _ configuration: ClientConfiguration, _ commands: CommandQueue, _ executor: LineExecutor,
        _ answers: RepeatedAnswers, _ copies: CopyPool
    ) throws {
        let context = try Context()
        let endpoint = try Endpoint.ipc(path: configuration.endpoint)
        let connection = try BusConnection(
            to: endpoint, in: context, frameBytesMax: MessageLimits.frontFrameBytesMax,
            servers: configuration.servers)
        var loop = EventLoop(sourcesMax: 3)
        sources = (
            loop.add(connection.monitor.socket), loop.add(connection.socket),
            loop.add(descriptor: commands.orders.descriptor)
        )
        self.loop = loop
        self.answers = answers
        self.copies = copies
        self.commands = commands
        self.executor = executor
        self.context = context
        self.connection = connection
        results = ResultReader(resultsDirectory: configuration.resultsDirectory)
        self.configuration = configuration
        pending = PendingRequests(
            connectTimeoutMilliseconds: configuration.connectTimeoutMilliseconds,
            mayAskForPieces: configuration.delivery != .mapped,
            sharesLoads: configuration.sharesLoads)
        prefetches = PendingPrefetches(
            connectTimeoutMilliseconds: configuration.connectTimeoutMilliseconds)
        inquiries = OpenInquiries(
            connectTimeoutMilliseconds: configuration.connectTimeoutMilliseconds)
        pieces = IncomingPieces(bytesMax: configuration.piecedImageBytesMax)
    }
}

// A turn of the line: wait, take what came, send what is to go.
extension ClientLine {
    /// How the line ended.
    struct End {
        /// nil where it was closed.
        let error: (any Error)?
    }

    /// Whether nobody waits for anything and nothing is to be sent: the line can be left alone.
    var isIdle: Bool {
        end == nil && !isPending && outbox.isEmpty && releases.isEmpty && isWelcome
            && !executor.isBusy
    }

    /// Whether anybody waits for anything.
    private var isPending: Bool {
        !pending.isEmpty || !prefetches.isEmpty || !inquiries.isEmpty
    }

    /// One turn; how the line ended, where it did.
    mutating func turn() -> End? {
        if let end { return end }
        do {
            commands.isTurning.store(false, ordering: .sequentiallyConsistent)
            let isBusy = !commands.orders.isEmpty || executor.isBusy
            let turn = try loop.wait(until: isBusy ? Instant(nanoseconds: 0) : nextDeadline)
            commands.isTurning.store(true, ordering: .sequentiallyConsistent)
            let now = turn.wokenAt
            let isChanged = turn.ready.contains(sources.monitor)
            // What a coordinator said before it ended counts: its end comes after.
            if isChanged || turn.ready.contains(sources.bus) { try drainBus(at: now) }
            if isChanged { try drainMonitor(at: now) }
            executor.runWaiting()
            if turn.ready.contains(sources.mailbox) { commands.orders.quiet() }
            drainOrders(at: now)
            perform(pending.expire(at: now), at: now)
            perform(prefetches.expire(at: now))
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

    /// The line cannot go on: whoever waits is told why.
    private mutating func fail(_ error: ImageError) {
        let now = Instant.now()
        perform(pending.closed(with: error), at: now)
        perform(prefetches.closed(with: error))
        inquiries.close(with: error)
    }

    /// Makes a load of the thread that runs the line, until it has ended.
    mutating func run(_ load: PendingLoad, uploading bytes: [UInt8]) {
        let task = load.task
        let now = Instant.now()
        submit(load, uploading: bytes, at: now)
        do {
            try sendOutbox()
        } catch {
            end = End(error: error)
        }
        while !task.hasEnded {
            guard turn() == nil else { break }
        }
        // Of a line that cannot go on.
        if !task.hasEnded { task.finish(.failure(.lineEnded(end?.error))) }
    }

    mutating func submit(_ load: PendingLoad, at now: Instant) {
        perform(pending.submitted(load, at: now), at: now)
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
        return ImageError(.internalError, "the client cannot go on: \(error)")
    }
}

/// What goes to the coordinator next.
enum OutgoingMessage {
    /// A load as it is when it goes.
    case load(PendingLoad)
    indirect case other(ClientMessage)

    var isLoad: Bool { if case .load = self { true } else { false } }
}
