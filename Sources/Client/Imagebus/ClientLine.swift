import BusConnection
import EventLoop
import ImageModel
import Linux
import Messages
import SharedArena
import Synchronization
import Wire
import ZeroMQ

/// The client's one thread: owns the DEALER, the pending requests and the mapped results.
struct ClientLine: ~Copyable {
    let orders: Mailbox<ClientOrder>
    let context: Context
    var connection: BusConnection
    let results: ResultReader
    var encoder = MessageEncoder()
    var decoder = MessageDecoder()
    var pending: PendingRequests
    var tasks: [Token: LoadTask] = [:]
    var inquiries: [Inquiry<StatusReport>] = []
    var commands: [(command: BlacklistCommand, inquiry: Inquiry<BlacklistReport>)] = []
    var outbox: [ClientMessage] = []
    var releases: [BlockID] = []
    var isWelcome = false
    var isClosed = false
    let incarnation = Incarnation(
        Identifier128(high: Random.uint64(), low: Random.uint64()))

    static let messagesPerTurn = 512
    /// Milliseconds after which a full queue to the coordinator is tried again.
    static let retryMilliseconds = 5

    init(_ configuration: ClientConfiguration, orders: Mailbox<ClientOrder>) throws {
        let context = try Context()
        let endpoint = try Endpoint.ipc(path: configuration.endpoint)
        let connection = try BusConnection(
            to: endpoint, in: context, frameBytesMax: MessageLimits.frontFrameBytesMax)
        self.orders = orders
        self.context = context
        self.connection = connection
        results = ResultReader(resultsDirectory: configuration.resultsDirectory)
        pending = PendingRequests(
            connectTimeoutMilliseconds: configuration.connectTimeoutMilliseconds)
    }

    mutating func run() throws {
        var loop = EventLoop(sourcesMax: 3)
        let monitor = loop.add(connection.monitor.socket)
        let bus = loop.add(connection.socket)
        let mailbox = loop.add(descriptor: orders.descriptor)
        while !isClosed {
            let turn = try loop.wait(until: nextDeadline)
            let now = turn.wokenAt
            if turn.ready.contains(monitor) { try drainMonitor(at: now) }
            if turn.ready.contains(bus) { try drainBus(at: now) }
            if turn.ready.contains(mailbox) { drainOrders(at: now) }
            perform(pending.expire(at: now), at: now)
            expireInquiries(at: now)
            try sendOutbox()
        }
    }

    private var nextDeadline: Instant? {
        let retry =
            isWelcome && !outbox.isEmpty
            ? Instant.now().adding(milliseconds: Self.retryMilliseconds) : nil
        let inquiries = inquiries.map(\.deadline) + commands.map(\.inquiry.deadline)
        return ([pending.nextDeadline, retry] + inquiries).compactMap { $0 }.min()
    }
}
