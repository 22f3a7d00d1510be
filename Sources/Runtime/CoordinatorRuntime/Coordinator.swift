import Admission
public import Bootstrap
import Derivation
import Dispatching
import EventLoop
import Linux
import Messages
import Observability
import SharedArena
import Wire
import ZeroMQ

/// The coordinator's one thread: listeners in, scheduler, listeners out. What is done with requests
/// and jobs is the scheduler's decision; who may have a session, how long a turn lasts and when the
/// process ends are decided here. Payloads pass through only for clients that want them in pieces.
public struct Coordinator: ~Copyable {
    var bootstrap: Bootstrap
    let epoch: Epoch
    let identities: IdentityDigest
    let authenticator: Authenticator
    /// As they were when this coordinator started.
    let pools: WorkerPools
    private let lock: FileDescriptor
    private let context: Context
    let gateways: [Listener: Gateway]
    /// The same in the order of `Listener.all(_:)`.
    let gatewayList: [Gateway]
    let began = Instant.now()

    var scheduler: Scheduler
    /// The newest reports of this turn.
    var prefetchReports: [ClientID: [Token: PrefetchReport]] = [:]
    var actions: [SchedulerAction] = []
    var peers = PeerTable()
    var hitMemos = HitMemos()
    /// Replies of hits to the client whose message is being read.
    var answers = BatchWriter()
    /// Where clients see which answers they may repeat.
    let vouchers: VoucherFiles
    var requestLog: RequestLog
    /// For lines about messages that were refused.
    var refusalLines = LineBudget(linesPerSecond: 10)
    var configuration: ConfigurationStore
    /// What goes out to clients in pieces, and what comes in so.
    var deliveries = PieceDeliveries()
    var uploads: UploadSessions
    let uploadBytesMax: UInt64
    let keepsWorkers: Bool
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
    /// The listener that was served last.
    var lastListener = 0
    /// Clients whose connection has ended, and their requests not yet.
    var leaving: [UInt64] = []
    /// Clients whose connections ended in this turn without a goodbye that was read: it may be
    /// among the messages that are read next.
    var partings: Set<RoutingID> = []
    var exitStatus: Int32?
    var shutdown = ShutdownState()
    /// Operators who asked for a replacement, until their next message shows that they have read
    /// the answer.
    var replacementAskers: Set<UInt64> = []
    var timers = CoordinatorTimers()
    /// What workers are told together with what comes next for them.
    var releases = PendingReleases()

    /// Bytes of segments for what clients bring along.
    private static let arenaBytesMax = 256 << 20
    /// What clients may bring along, all together: less by what an upload needs while it grows from
    /// half its size, and by the segments that small ones share.
    private static let uploadBytesInAllMax = 208 << 20

    /// Takes the lock of the runtime directory and binds all listeners.
    ///
    /// Whatever is thrown is a sentence for people: another coordinator serves there, or the
    /// directory is not as it should be.
    public init(_ bootstrap: consuming Bootstrap, options: CoordinatorOptions) throws {
        let configuration = try ConfigurationStore(
            path: options.configurationFile, vectorWorkers: options.vectorWorkers,
            loaders: options.loaders, grant: options.grant)
        let pools = configuration.pools
        let listeners = Listener.all(pools)
        let lock = try CoordinatorLock.take(in: bootstrap.paths, listeners)
        let epoch = Epoch(Identifier128(high: Random.uint64(), low: Random.uint64()))
        let vouchers = VoucherFiles(
            listeners, in: bootstrap.paths, epoch: epoch, words: options.limits.vouchersMax)
        let authenticator = try Authenticator(inherited: bootstrap.secret, pools: pools)
        let identities = try IdentityDigest(keyFile: options.secretFile)
        let context = try Context()
        var gateways: [Listener: Gateway] = [:]
        let descriptors = try ResourceLimit.current(.descriptors).soft
        for listener in listeners {
            let limits = ConnectionLimits(
                listener, of: listeners, descriptors: descriptors,
                perProcess: options.connectionsPerProcess
            )
            gateways[listener] = try Gateway(
                listener, in: context, paths: bootstrap.paths, limits: limits)
        }
        Self.say(tooFewDescriptors: descriptors, for: listeners, bootstrap.log)
        let arena = try Arena(
            directory: bootstrap.paths.arenaDirectory(.coordinator), name: .stage,
            incarnation: bootstrap.incarnation, totalBytesMax: Self.arenaBytesMax)
        self.arena = arena
        if let fault = vouchers.fault {
            bootstrap.log.warning("no vouchers are issued", ["reason": .string(fault)])
        }
        uploads = UploadSessions(space: arena, bytesMax: Self.uploadBytesInAllMax)
        uploadBytesMax = options.limits.derivation.bodyBytesMax
        keepsWorkers = options.keepsWorkers
        requestLog = RequestLog(options.requestLogging)
        results = ResultReader(resultsDirectory: bootstrap.paths.resultsDirectory)
        self.authenticator = authenticator
        self.lock = lock
        var limits = options.limits
        limits.vouchersMax = vouchers.words
        self.epoch = epoch
        self.vouchers = vouchers
        limits.dispatch.pools = pools
        self.pools = pools
        scheduler = Scheduler(limits: limits, variantDigest: identities.variants)
        self.identities = identities
        self.configuration = configuration
        self.context = context
        self.gateways = gateways
        gatewayList = listeners.compactMap { gateways[$0] }
        self.bootstrap = bootstrap
        renewLateResolution()
        joinAsProducer(at: began)
        handle(.transfersMax(configuration.downloads.transfersMax), at: began)
        handle(.caches(configuration.cacheLayout), at: began)
    }

    /// libzmq aborts the process where it has no descriptor for a connection.
    private static func say(
        tooFewDescriptors count: UInt64, for listeners: [Listener], _ log: Log
    ) {
        let least = ConnectionLimits.descriptorsMin(listeners)
        guard count < least else { return }
        log.warning(
            "many connections at once could end this process: raise the limit of descriptors",
            [
                "has": LogValue(count), "needs": LogValue(least),
            ])
    }

    /// Tells the supervisor that the listeners are open.
    mutating func tellReady() {
        bootstrap.ready.tell(.ready, bootstrap.incarnation)
        bootstrap.log.info("serving", ["endpoint": .string(bootstrap.paths.frontEndpoint)])
        guard let path = configuration.path else { return }
        bootstrap.log.info(
            "configuration loaded",
            ["file": .string(path), "has": .string(configuration.summary)])
        tellNotes()
        warnOfUnverifiedHosts()
    }
}

// One turn of the loop, in the order in which things happen.
extension Coordinator {
    /// Serves until the shutdown is over; returns the exit status of the process.
    public mutating func run() throws -> Int32 {
        var loop = EventLoop(sourcesMax: 2 * gatewayList.count + 1)
        for gateway in gatewayList { gateway.watch(in: &loop) }
        let signals = loop.add(descriptor: bootstrap.signals.descriptor.number)
        tellReady()
        while exitStatus == nil {
            try work(in: loop.wait(until: nextTurn), signals)
        }
        sayLeftOut(requestLog.takeLeftOut())
        arena.unlinkAll()
        return exitStatus ?? 0
    }

    /// When the next turn begins at the latest. What is left over from this one goes on at once.
    private var nextTurn: Instant? {
        guard leaving.isEmpty else { return began }
        guard let due = timers.nextDue else { return scheduler.nextDeadline }
        return scheduler.nextDeadline.map { min($0, due) } ?? due
    }

    private mutating func work(in turn: EventLoop.Turn, _ signals: EventSource) throws {
        let now = turn.wokenAt
        scheduler.calendarOffsetMilliseconds =
            WallClock.nanoseconds() / 1_000_000 - Int64(clamping: now.nanoseconds / 1_000_000)
        lookAtSecrets(at: now)
        // Ends of connections first: what is read afterwards is of the living (SEMANTICS §14.3).
        for gateway in gatewayList where gateway.hasConnectionNews(in: turn) {
            drainMonitor(gateway, at: now)
        }
        endClients(at: now)
        try serveListeners(turn)
        countPartings()
        if turn.ready.contains(signals) { try drainSignals(at: now) }
        if let due = scheduler.nextDeadline, due <= now { handle(.tick, at: now) }
        for timer in timers.takeDue(at: now) { ring(timer, at: now) }
        moveShutdown(at: now)
        tellPrefetches(at: now)
    }

    private mutating func drainSignals(at now: Instant) throws {
        while exitStatus == nil, let received = try bootstrap.signals.next() {
            if received.signal == .hangUp {
                reload(at: now)
            } else {
                tellShutdown(.stopRequested(isReplaced: keepsWorkers), at: now)
            }
        }
    }

    private mutating func ring(_ timer: CoordinatorTimer, at now: Instant) {
        switch timer {
        case .retryPeers: retryOutboxes(at: now)
        case .sendReleases: sendReleases(at: now)
        case .expireUploads: expireUploads(at: now)
        case .endStalledDeliveries: endStalledDeliveries(at: now)
        case .closeSilentConnections: closeSilentConnections(at: now)
        case .shutdown: tellShutdown(.tick, at: now)
        }
    }
}

// What one turn does at the listeners, and how much of it.
extension Coordinator {
    /// Takes messages of all listeners in turn, until none are left or the time is over. What is
    /// left is found by the next wait, which ends at once. `admin/` is always first; of the others
    /// that one is next which comes after the last one that was served.
    mutating func serveListeners(_ turn: EventLoop.Turn) throws {
        var budget = TurnBudget(from: turn.wokenAt)
        var ready: UInt64 = 0
        for (index, gateway) in gatewayList.enumerated() where gateway.hasMessages(in: turn) {
            ready |= 1 << UInt64(index)
        }
        if ready & 1 != 0, try serve(0, &ready, &budget, turn) { return }
        while ready != 0 {
            lastListener = (lastListener + 1) % gatewayList.count
            guard ready & (1 << UInt64(lastListener)) != 0 else { continue }
            if try serve(lastListener, &ready, &budget, turn) { return }
        }
    }

    /// Serves a listener and closes it where nothing is left; `true` where the time is over.
    private mutating func serve(
        _ index: Int, _ ready: inout UInt64, _ budget: inout TurnBudget, _ turn: EventLoop.Turn
    ) throws -> Bool {
        switch try serve(gatewayList[index], &budget, at: turn.wokenAt) {
        case .more: return false
        case .nothing:
            ready &= ~(1 << UInt64(index))
            return false
        case .noTime: return true
        }
    }

    /// What is left after a listener had its turn.
    private enum Left {
        case more
        case nothing
        case noTime
    }

    private mutating func serve(
        _ gateway: Gateway, _ budget: inout TurnBudget, at now: Instant
    ) throws -> Left {
        var left = Self.messagesInARow
        while left > 0 {
            guard try gateway.receive() else { return .nothing }
            let received = try receive(from: gateway, at: now)
            if budget.isSpent(afterLong: !received.isHit) { return .noTime }
            left -= received.count
        }
        return .more
    }

    /// Messages of one listener, or loads, before the next one has its turn.
    private static var messagesInARow: Int { 32 }
}

// How connections begin and end, and what follows for sessions.
extension Coordinator {
    mutating func drainMonitor(_ gateway: Gateway, at now: Instant) {
        // A monitor ends with its context only, and then so does the loop.
        guard let ended = try? gateway.endedConnections(at: now) else { return }
        for connection in ended {
            guard let id = peers.id(at: gateway.listener, connection) else {
                counters.strangers += 1
                continue
            }
            countLoss(of: id)
            end(id, at: now)
        }
        watchSilentConnections(of: gateway, at: now)
    }

    /// Who ends in order says so before.
    private mutating func countLoss(of id: UInt64) {
        guard let peer = peers[id], !peer.isLeaving else { return }
        switch peer.role {
        case .client: partings.insert(peer.routing)
        case .worker: counters.lostWorkers += 1
        }
    }

    /// A connection's end is seen before its last messages are read, of which one may be a goodbye.
    mutating func countPartings() {
        counters.lostClients += UInt64(partings.count)
        partings.removeAll(keepingCapacity: true)
    }

    /// Withdraws what clients were interested in that have gone. All of a process go at once: who
    /// comes too late here is next in the next turn.
    mutating func endClients(at now: Instant) {
        guard !leaving.isEmpty else { return }
        var budget = TurnBudget(from: now)
        while let id = leaving.popLast() {
            handle(.clientLeft(ClientID(id)), at: now)
            if budget.isSpent() { return }
        }
    }

    // MARK: - Connections without a session

    /// Connections that never say hello are closed after a while: they take places from others.
    mutating func watchSilentConnections(of gateway: Gateway?, at now: Instant) {
        guard gateway?.hasSilent == true else { return }
        timers.arm(
            .closeSilentConnections, by: now.adding(milliseconds: Self.silenceCheckMilliseconds))
    }

    /// Closes those that had time enough.
    mutating func closeSilentConnections(at now: Instant) {
        for gateway in gatewayList {
            gateway.closeSilent(at: now)
            watchSilentConnections(of: gateway, at: now)
        }
    }

    private static var silenceCheckMilliseconds: Int { 1_000 }
}

/// What the coordinator does at a moment, besides what the scheduler does (`nextDeadline`).
enum CoordinatorTimer: Hashable, Sendable, CaseIterable {
    /// Peers that took nothing are tried again.
    case retryPeers
    /// Workers hear which blocks are free.
    case sendReleases
    /// Uploads that take too long end.
    case expireUploads
    /// Clients that take no pieces lose their session.
    case endStalledDeliveries
    /// Connections that never said hello are closed.
    case closeSilentConnections
    /// A phase of the shutdown takes too long.
    case shutdown
}

/// The timers of the coordinator, one of each kind at most.
///
/// An armed timer means: look by then. Who looks finds out what is due at that moment, which may be
/// nothing, and arms it again where something is still to come. So nothing is ever disarmed, and a
/// deadline that moves away costs nothing.
struct CoordinatorTimers {
    private var queue = TimerQueue<CoordinatorTimer>(timersMax: CoordinatorTimer.allCases.count)
    private var armed: [CoordinatorTimer: Armed] = [:]

    private struct Armed {
        let id: TimerID
        let due: Instant
    }

    /// When the first one is due; `nil` where none is armed.
    var nextDue: Instant? { queue.nextDue }

    /// Arms a timer for that moment, unless it is due earlier.
    mutating func arm(_ timer: CoordinatorTimer, by due: Instant) {
        if let known = armed[timer] {
            guard due < known.due else { return }
            queue.cancel(known.id)
        }
        armed[timer] = Armed(id: queue.schedule(timer, at: due), due: due)
    }

    /// Takes all that are due, first those that were due first. One that is armed again while they
    /// are worked off comes in the next turn.
    mutating func takeDue(at now: Instant) -> [CoordinatorTimer] {
        var due: [CoordinatorTimer] = []
        while let timer = queue.takeDue(at: now) {
            armed[timer] = nil
            due.append(timer)
        }
        return due
    }
}

/// How long a part of a turn may last: then everything else gets its own, and the rest goes on in
/// the next turn, which follows at once.
struct TurnBudget {
    /// Milliseconds for what waits at all listeners together. Operators, who are served first in
    /// each turn, wait for two of them at most, and for the event that is under way: no event does
    /// much, since what concerns many requests goes on from event to event.
    static let milliseconds = 20

    private let end: Instant
    private var unread = 0

    init(from now: Instant = .now(), milliseconds: Int = Self.milliseconds) {
        end = now.adding(milliseconds: milliseconds)
    }

    /// Whether the time is over, after a piece of work. The clock is read each time where that was
    /// `long`, else now and then: a hit takes 4 µs.
    mutating func isSpent(afterLong isLong: Bool = true) -> Bool {
        unread += 1
        guard isLong || unread >= Self.shortsMax else { return false }
        unread = 0
        return .now() >= end
    }

    private static let shortsMax = 16
}
