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
