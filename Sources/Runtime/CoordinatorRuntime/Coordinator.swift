public import Bootstrap
import EventLoop
import Linux
import Messages
import Observability
import Scheduling
import SharedArena
import Wire
import ZeroMQ

/// The coordinator's one thread: doors in, scheduler, doors out. What is done with requests and
/// jobs is the scheduler's decision; who may have a session, how long a turn lasts and when the
/// process ends are decided here. Payloads pass through only for clients that want them in pieces.
public struct Coordinator: ~Copyable {
    var bootstrap: Bootstrap
    let epoch = Epoch(Identifier128(high: Random.uint64(), low: Random.uint64()))
    let identities: IdentityDigest
    let doorkeeper: Doorkeeper
    private let lock: FileDescriptor
    private let context: Context
    let gateways: [Door: Gateway]
    /// The same in the order of `Door.all`.
    let gatewayList: [Gateway]
    let began = Instant.now()

    var scheduler: Scheduler
    /// The newest reports of this turn.
    var prefetchReports: [ClientID: [Token: PrefetchReport]] = [:]
    var actions: [SchedulerAction] = []
    var peers = PeerTable()
    var hitMemo = HitMemo()
    var requestLog: RequestLog
    /// For lines about messages that were refused.
    var refusalLines = LineBudget(linesPerSecond: 10)
    var configuration: ConfigurationDesk
    /// What goes out to clients in pieces, and what comes in so.
    var deliveries = PieceDeliveries()
    var uploads: UploadDesk
    let uploadBytesMax: UInt64
    private let keepsWorkers: Bool
    /// Where uploads lie, and where delivered results are read.
    let arena: Arena
    let results: ResultReader
    var encoder = MessageEncoder()
    var decoder = MessageDecoder()
    var counters = CoordinatorCounters()
    /// Jobs that could not be sent; the scheduler is told after what it is doing now.
    var unsendable: [(WorkerID, JobOutcome)] = []
    /// Peers for whom messages wait, in the order in which they are tried again.
    var blocked: [UInt64] = []
    /// When that is.
    var retryAt: Instant?
    /// The door that was served last.
    var lastDoor = 0
    /// Clients whose connection has ended, and their requests not yet.
    var leaving: [UInt64] = []
    /// Clients whose connections ended in this turn without a goodbye that was read: it may be
    /// among the messages that are read next.
    var partings: Set<RoutingID> = []
    /// When connections without a session are looked at.
    var closesSilentAt: Instant?
    var exitStatus: Int32?
    private var phase = Phase.serving
    /// Another coordinator follows: workers stay, and join it.
    private var isReplaced = false

    /// What the process is doing as a whole.
    private enum Phase {
        /// Admits requests. Next: finishing.
        case serving
        /// Admits nothing; what was admitted runs. Next: delivering. Ends at that moment, where
        /// another coordinator follows: clients send it what is left.
        case finishing(until: Instant?)
        /// All requests have ended; clients take the bytes out of `results/`. Next: storing, when
        /// all clients have gone or had time for it.
        case delivering(since: Instant)
        /// What follows a reply, such as the store of its original. Next: dismissing.
        case storing(since: Instant)
        /// Workers write what is unwritten, and take their segments along. Ends when all have gone.
        case dismissing(since: Instant)
    }

    /// Milliseconds that what was admitted has before another coordinator follows; with all that
    /// comes after it a drain takes eight seconds (SEMANTICS §14.10).
    private static let replacementMilliseconds = 6_000
    /// Milliseconds that clients have for taking the bytes of the last replies.
    private static let deliveryMilliseconds = 500
    /// Milliseconds that stores have which nobody waits for.
    private static let storingMilliseconds = 1_000
    /// Bytes of segments for what clients bring along.
    private static let arenaBytesMax = 256 << 20
    /// What clients may bring along, all together: less by what an upload needs while it grows from
    /// half its size, and by the segments that small ones share.
    private static let uploadBytesInAllMax = 208 << 20
    /// Milliseconds that workers have for writing what is unwritten.
    private static let dismissalMilliseconds = 6_000

    /// Takes the lock of the runtime directory and binds all doors.
    ///
    /// Whatever is thrown is a sentence for people: another coordinator serves there, or the
    /// directory is not as it should be.
    public init(_ bootstrap: consuming Bootstrap, options: CoordinatorOptions) throws {
        let lock = try CoordinatorLock.take(in: bootstrap.paths)
        let doorkeeper = try Doorkeeper(inherited: bootstrap.secret)
        let identities = try IdentityDigest(keyFile: options.secretFile)
        let configuration = try ConfigurationDesk(path: options.configurationFile)
        let context = try Context()
        var gateways: [Door: Gateway] = [:]
        let descriptors = try ResourceLimit.current(.descriptors).soft
        for door in Door.all {
            let limits = ConnectionLimits(
                door, descriptors: descriptors, perProcess: options.connectionsPerProcess)
            gateways[door] = try Gateway(
                door, in: context, paths: bootstrap.paths, limits: limits)
        }
        Self.say(tooFewDescriptors: descriptors, bootstrap.log)
        let arena = try Arena(
            directory: bootstrap.paths.arenaDirectory(.coordinator), name: .stage,
            incarnation: bootstrap.incarnation, totalBytesMax: Self.arenaBytesMax)
        self.arena = arena
        uploads = UploadDesk(space: arena, bytesMax: Self.uploadBytesInAllMax)
        uploadBytesMax = options.limits.bodyBytesMax
        keepsWorkers = options.keepsWorkers
        requestLog = RequestLog(options.requestLogging)
        results = ResultReader(resultsDirectory: bootstrap.paths.resultsDirectory)
        self.doorkeeper = doorkeeper
        self.lock = lock
        scheduler = Scheduler(limits: options.limits, variantDigest: identities.variants)
        self.identities = identities
        self.configuration = configuration
        self.context = context
        self.gateways = gateways
        gatewayList = Door.all.compactMap { gateways[$0] }
        self.bootstrap = bootstrap
        renewLateResolution()
        joinAsProducer(at: began)
    }

    /// libzmq aborts the process where it has no descriptor for a connection.
    private static func say(tooFewDescriptors count: UInt64, _ log: Log) {
        guard count < ConnectionLimits.descriptorsMin else { return }
        log.warning(
            "many connections at once could end this process: raise the limit of descriptors",
            [
                "has": LogValue(count), "needs": LogValue(ConnectionLimits.descriptorsMin),
            ])
    }

    /// Serves until drained; returns the exit status of the process.
    public mutating func run() throws -> Int32 {
        var loop = EventLoop(sourcesMax: 2 * Door.all.count + 1)
        for door in Door.all { gateways[door]?.watch(in: &loop) }
        let signals = loop.add(descriptor: bootstrap.signals.descriptor.number)
        bootstrap.ready.tell(.ready, bootstrap.incarnation)
        bootstrap.log.info("serving", ["endpoint": .string(bootstrap.paths.frontEndpoint)])
        if let path = configuration.path {
            bootstrap.log.info(
                "configuration loaded",
                ["file": .string(path), "has": .string(configuration.summary)])
            tellNotes()
        }
        while exitStatus == nil {
            let turn = try loop.wait(until: nextDeadline)
            lookAtSecrets(at: turn.wokenAt)
            // Ends of connections first: what is read afterwards is of the living
            // (SEMANTICS §14.3).
            for gateway in gatewayList where gateway.hasConnectionNews(in: turn) {
                drainMonitor(gateway, at: turn.wokenAt)
            }
            endClients(at: turn.wokenAt)
            try serveDoors(turn)
            countPartings()
            if turn.ready.contains(signals) { try drainSignals(at: turn.wokenAt) }
            if let due = scheduler.nextDeadline, due <= turn.wokenAt {
                handle(.tick, at: turn.wokenAt)
            }
            try retryOutboxes(at: turn.wokenAt)
            expireUploads(at: turn.wokenAt)
            endStalledDeliveries(at: turn.wokenAt)
            endIfOverdue(at: turn.wokenAt)
            storeIfDelivered(at: turn.wokenAt)
            dismissIfStored(at: turn.wokenAt)
            endIfDismissed(at: turn.wokenAt)
            closeSilentConnections(at: turn.wokenAt)
            tellPrefetches(at: turn.wokenAt)
        }
        sayLeftOut(requestLog.takeLeftOut())
        arena.removeAll()
        return exitStatus ?? 0
    }

    /// Whether requests are admitted.
    var isServing: Bool { if case .serving = phase { true } else { false } }

    private var nextDeadline: Instant? {
        var next = scheduler.nextDeadline
        func expect(_ moment: Instant) { next = next.map { min($0, moment) } ?? moment }
        if let retryAt { expect(retryAt) }
        if let closesSilentAt { expect(closesSilentAt) }
        if !leaving.isEmpty { expect(began) }
        if let due = uploads.nextDeadline { expect(due) }
        if let stalled = deliveries.stalled {
            expect(stalled.since.adding(milliseconds: Self.pieceStallMilliseconds))
        }
        switch phase {
        case .serving: break
        case .finishing(let until): if let until { expect(until) }
        case .delivering(let since):
            expect(since.adding(milliseconds: Self.deliveryMilliseconds))
        case .storing(let since): expect(since.adding(milliseconds: Self.storingMilliseconds))
        case .dismissing(let since): expect(since.adding(milliseconds: Self.dismissalMilliseconds))
        }
        return next
    }

    private mutating func drainSignals(at now: Instant) throws {
        while let received = try bootstrap.signals.next() {
            guard received.signal != .hangUp else {
                reload(at: now)
                continue
            }
            guard case .serving = phase else {
                exitStatus = 0
                return
            }
            finish(isReplaced: keepsWorkers, at: now)
        }
    }

    /// Admits nothing any more, and ends when what was admitted has ended.
    /// Then its supervisor ends too, or, where it `isReplaced`, starts the next one.
    mutating func finish(isReplaced: Bool, at now: Instant) {
        guard case .serving = phase else { return }
        self.isReplaced = isReplaced
        phase = .finishing(
            until: isReplaced ? now.adding(milliseconds: Self.replacementMilliseconds) : nil)
        bootstrap.log.info("draining")
        handle(.drain, at: now)
    }

    /// All requests have ended; the bytes of the last replies are still on their way.
    mutating func awaitDelivery(at now: Instant) { phase = .delivering(since: now) }

    private mutating func storeIfDelivered(at now: Instant) {
        guard case .delivering(let since) = phase else { return }
        let clients = peers.all.filter { $0.door == .front }
        let isLate = now >= since.adding(milliseconds: Self.deliveryMilliseconds)
        if clients.isEmpty || isLate { phase = .storing(since: now) }
    }

    private mutating func dismissIfStored(at now: Instant) {
        guard case .storing(let since) = phase else { return }
        let isLate = now >= since.adding(milliseconds: Self.storingMilliseconds)
        guard scheduler.report.liveJobs == 0 || isLate else { return }
        if isReplaced { exitStatus = 0 } else { dismiss(at: now) }
    }

    /// What takes longer is sent again to the next coordinator, as after a death.
    private mutating func endIfOverdue(at now: Instant) {
        guard case .finishing(let until?) = phase, now >= until else { return }
        bootstrap.log.warning("what was admitted takes too long: the next coordinator does it")
        exitStatus = 0
    }

    /// Lets the workers write what is unwritten.
    private mutating func dismiss(at now: Instant) {
        phase = .dismissing(since: now)
        for peer in peers.all {
            if case .worker = peer.role { send(.toWorker(.drain), to: peer.id, at: now) }
        }
    }

    private mutating func endIfDismissed(at now: Instant) {
        guard case .dismissing(let since) = phase else { return }
        let workers = peers.all.filter { if case .worker = $0.role { true } else { false } }
        let isLate = now >= since.adding(milliseconds: Self.dismissalMilliseconds)
        guard workers.isEmpty || isLate else { return }
        if isLate {
            bootstrap.log.warning("workers did not end", ["left": LogValue(workers.count)])
        }
        exitStatus = 0
    }
}
