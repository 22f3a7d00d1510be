import Linux
import Model
import ProcessRuntime
import Wire
import ZeroMQ

/// The coordinator's single thread, which connects the listeners with the scheduler. The scheduler
/// makes all decisions about requests and jobs; sessions, the length of a turn and the end of the
/// process are decided here. Payloads pass through only for clients that receive them in chunks.
struct Coordinator: ~Copyable {
    var bootstrap: Bootstrap
    let epoch: Epoch
    let identities: IdentityDigest
    let authenticator: Authenticator
    /// The pools at the time this coordinator started.
    let pools: WorkerPools
    private let lock: FileDescriptor
    private let context: Context
    /// The sockets in the order of `Listener.all(_:)`.
    let listenerSockets: [ListenerSocket]
    let began = Instant.now()
    /// The time at which the current turn began.
    var now = Instant.now()

    let scheduler: Scheduler
    /// The newest prefetch reports of this turn.
    var prefetchReports: [ClientID: [Token: PrefetchReport]] = [:]
    var actions: [SchedulerAction] = []
    var peers = PeerTable()
    var hitMemos = HitMemos()
    /// The ticket of the load that is being handled, if a hit answered it.
    var granted: HitTicket?
    /// Replies to hits, batched for the client whose message is being read.
    var answers = BatchWriter()
    /// The shared files in which clients see which answers they may repeat.
    let vouchers: VoucherFiles
    var requestLog: RequestLog
    /// Limits the log lines about rejected messages.
    var refusalLines = LineBudget(linesPerSecond: 10)
    var configuration: ConfigurationStore
    /// Chunked deliveries to clients and uploads from clients.
    var deliveries = ChunkDeliveries()
    var uploads: UploadSessions
    let uploadBytesMax: UInt64
    let keepsWorkers: Bool
    /// The arena that holds uploads and from which delivered results are read.
    let arena: Arena
    let results: ResultReader
    var encoder = MessageEncoder()
    var decoder = MessageDecoder()
    var counters = CoordinatorCounters()
    /// Jobs that could not be sent; reported to the scheduler after the current event.
    var unsendable: [(WorkerID, JobOutcome)] = []
    /// Peers with queued messages, in the order in which they are retried.
    var blocked: [UInt64] = []
    /// The listener that was served last.
    var lastListener = 0
    /// Clients whose connection has ended but whose requests have not.
    var leaving: [UInt64] = []
    /// Clients whose connections ended in this turn without a goodbye so far: it may be among the
    /// messages that are read next.
    var partings: Set<RoutingID> = []
    var exitStatus: Int32?
    var shutdown = ShutdownState()
    /// Operators who requested a replacement; kept until their next message shows that they have
    /// read the answer.
    var replacementAskers: Set<UInt64> = []
    var timers = CoordinatorTimers()
    /// Freed blocks that workers are notified of together with their next message.
    var releases = PendingReleases()

    /// The maximum size of the segments for uploads, in bytes.
    private static let arenaBytesMax = 256 << 20
    /// The maximum total size of uploads: less than the arena, because an upload briefly needs 1.5
    /// times its size while its block grows, and small uploads share segments.
    private static let uploadBytesInAllMax = 208 << 20

    /// Locks the runtime directory and binds all listeners.
    ///
    /// Thrown errors describe themselves in one readable sentence: another coordinator is serving
    /// there, or the directory is invalid.
    init(_ bootstrap: consuming Bootstrap, options: CoordinatorOptions) throws {
        let configuration = try ConfigurationStore(
            path: options.configurationFile, vectorWorkers: options.vectorWorkers,
            loaders: options.loaders, grant: options.grant)
        let pools = configuration.pools
        let listeners = Listener.all(pools)
        let lock = try CoordinatorLock.acquire(in: bootstrap.paths, listeners)
        // Before anything that can fail, so that no earlier voucher outlives a failed start.
        let epoch = Epoch(Identifier128(high: Random.uint64(), low: Random.uint64()))
        let vouchers = VoucherFiles(
            listeners, in: bootstrap.paths, epoch: epoch, words: options.limits.vouchersMax)
        let authenticator = try Authenticator(inherited: bootstrap.secret, pools: pools)
        let identities = try IdentityDigest(keyFile: options.secretFile)
        let context = try Context()
        var listenerSockets: [ListenerSocket] = []
        let descriptors = try ResourceLimit.current(.descriptors).soft
        for listener in listeners {
            let limits = ConnectionLimits(
                listener, of: listeners, descriptors: descriptors,
                perProcess: options.connectionsPerProcess
            )
            listenerSockets.append(
                try ListenerSocket(listener, in: context, paths: bootstrap.paths, limits: limits))
        }
        Self.warn(tooFewDescriptors: descriptors, for: listeners, bootstrap.log)
        arena = try Arena(
            directory: bootstrap.paths.arenaDirectory(PoolName(.coordinator)), name: .stage,
            incarnation: bootstrap.incarnation, totalBytesMax: Self.arenaBytesMax)
        (self.configuration, self.pools) = (configuration, pools)
        self.lock = lock
        (self.authenticator, self.context) = (authenticator, context)
        self.listenerSockets = listenerSockets
        (self.epoch, self.vouchers) = (epoch, vouchers)
        if let fault = vouchers.fault {
            bootstrap.log.warning("vouchers disabled", ["reason": .string(fault)])
        }
        uploads = UploadSessions(space: arena, bytesMax: Self.uploadBytesInAllMax)
        uploadBytesMax = options.limits.workGraph.bodyBytesMax
        keepsWorkers = options.keepsWorkers
        requestLog = RequestLog(options.requestLogging)
        results = ResultReader(resultsDirectory: bootstrap.paths.resultsDirectory)
        var limits = options.limits
        limits.vouchersMax = vouchers.words
        limits.dispatch.pools = pools
        scheduler = Scheduler(limits: limits, variantDigest: identities.variants)
        self.identities = identities
        self.bootstrap = bootstrap
        renewLateResolution()
        joinAsProducer()
        handle(.transfersMax(configuration.downloads.transfersMax))
        handle(.caches(configuration.cacheLayout))
    }

    /// Warns about a low descriptor limit, because libzmq aborts the process if it has no
    /// descriptor for a connection.
    private static func warn(
        tooFewDescriptors count: UInt64, for listeners: [Listener], _ log: Log
    ) {
        let least = ConnectionLimits.descriptorsMin(listeners)
        guard count < least else { return }
        log.warning(
            "too few file descriptors for all connections: raise the limit (RLIMIT_NOFILE)",
            [
                "has": LogValue(count), "needs": LogValue(least),
            ])
    }

    /// Reports to the supervisor that the listeners are open.
    mutating func notifyReady() {
        bootstrap.ready.report(.ready, bootstrap.incarnation)
        bootstrap.log.info("serving", ["endpoint": .string(bootstrap.paths.frontEndpoint)])
        guard let path = configuration.path else { return }
        bootstrap.log.info(
            "configuration loaded",
            ["file": .string(path), "has": .string(configuration.summary)])
        logNotes()
        warnOfUnverifiedHosts()
    }
}

// One turn of the loop, in order of execution.
extension Coordinator {
    /// Runs until the shutdown is complete; returns the exit status of the process.
    mutating func run() throws -> Int32 {
        var loop = EventLoop(sourcesMax: 2 * listenerSockets.count + 1)
        for socket in listenerSockets { socket.watch(in: &loop) }
        let signals = loop.add(descriptor: bootstrap.signals.descriptor.number)
        notifyReady()
        while exitStatus == nil {
            try work(in: loop.wait(until: nextTurn), signals)
        }
        logDropped(requestLog.drainLeftOut())
        arena.unlinkAll()
        return exitStatus ?? 0
    }

    /// The deadline of the next turn. If work is left over from this one, it starts immediately.
    private var nextTurn: Instant? {
        leaving.isEmpty ? timers.nextDue.min(scheduler.nextDeadline) : began
    }

    private mutating func work(in turn: EventLoop.Turn, _ signals: EventSource) throws {
        now = turn.wokenAt
        scheduler.calendarOffsetMilliseconds =
            WallClock.nanoseconds() / 1_000_000 - Int64(clamping: now.nanoseconds / 1_000_000)
        lookAtSecrets()
        // Closed connections first, so that messages read later belong to open ones
        // (SEMANTICS §14.3).
        for socket in listenerSockets where socket.hasConnectionNews(in: turn) {
            drainMonitor(socket)
        }
        endClients()
        try serveListeners(turn)
        // Their last messages, possibly a goodbye, are read after the end of the connection is seen.
        counters.lostClients += UInt64(partings.count)
        partings.removeAll(keepingCapacity: true)
        if turn.ready.contains(signals) { try drainSignals() }
        if let due = scheduler.nextDeadline, due <= now { handle(.tick) }
        for timer in timers.removeDue(at: now) { fire(timer) }
        moveShutdown()
        notifyPrefetches()
    }

    private mutating func drainSignals() throws {
        while exitStatus == nil, let received = try bootstrap.signals.next() {
            guard received.signal != .hangUp else {
                reload()
                continue
            }
            let isRepeated = bootstrap.stopSignals.record(received)
            guard isRepeated || shutdown.isServing else { continue }
            notifyShutdown(.stopRequested(isReplaced: keepsWorkers))
        }
    }

    private mutating func fire(_ timer: CoordinatorTimer) {
        switch timer {
        case .retryPeers: retryOutboxes()
        case .sendReleases: sendReleases()
        case .expireUploads: expireUploads()
        case .endStalledDeliveries: endStalledDeliveries()
        case .closeSilentConnections: closeSilentConnections()
        case .shutdown: notifyShutdown(.tick)
        }
    }
}

// How much one turn does at the listeners.
extension Coordinator {
    /// Reads messages of all listeners in round-robin order, until none are left or the budget is
    /// spent. The next wait reports remaining messages at once. `admin/` always comes first; the
    /// others continue after the one that was served last.
    mutating func serveListeners(_ turn: EventLoop.Turn) throws {
        var budget = TurnBudget(from: turn.wokenAt)
        var ready: UInt64 = 0
        for (index, socket) in listenerSockets.enumerated() where socket.hasMessages(in: turn) {
            ready |= 1 << UInt64(index)
        }
        if ready & 1 != 0, try serve(0, &ready, &budget) { return }
        while ready != 0 {
            lastListener = (lastListener + 1) % listenerSockets.count
            guard ready & (1 << UInt64(lastListener)) != 0 else { continue }
            if try serve(lastListener, &ready, &budget) { return }
        }
    }

    /// Serves a listener and clears its ready bit if it is drained; returns `true` if the budget is
    /// spent.
    private mutating func serve(
        _ index: Int, _ ready: inout UInt64, _ budget: inout TurnBudget
    ) throws -> Bool {
        let socket = listenerSockets[index]
        var left = Self.messagesInARow
        while left > 0 {
            guard try socket.receive() else {
                ready &= ~(1 << UInt64(index))
                return false
            }
            let received = try receive(from: socket)
            if budget.isSpent(afterLong: !received.isHit) { return true }
            left -= received.weight
        }
        return false
    }

    /// The number of messages or loads that a listener may process before the next one.
    private static var messagesInARow: Int { 32 }
}

// The beginnings and ends of connections, and their effect on sessions.
extension Coordinator {
    mutating func drainMonitor(_ socket: ListenerSocket) {
        // A monitor fails only when its context ends, which also ends the loop.
        guard let ended = try? socket.endedConnections(at: now) else { return }
        for connection in ended {
            guard let id = peers.id(at: socket.listener, connection) else {
                counters.unknownConnections += 1
                continue
            }
            countLoss(of: id)
            end(id)
        }
        watchSilentConnections(of: socket)
    }

    /// Counts a connection that ended without a goodbye.
    private mutating func countLoss(of id: UInt64) {
        guard let peer = peers[id], !peer.isLeaving else { return }
        switch peer.role {
        case .client: partings.insert(peer.routing)
        case .worker: counters.lostWorkers += 1
        }
    }

    /// Withdraws the requests of clients that have gone. All clients of a process may go at the
    /// same time; the next turn continues if the budget is spent.
    mutating func endClients() {
        guard !leaving.isEmpty else { return }
        var budget = TurnBudget(from: now)
        while let id = leaving.popLast() {
            handle(.clientLeft(ClientID(id)))
            if budget.isSpent() { return }
        }
    }

    // MARK: - Connections without a session

    /// Schedules closing connections that never say hello, since they count toward the limits.
    mutating func watchSilentConnections(of socket: ListenerSocket?) {
        guard socket?.connections.hasSilent == true else { return }
        timers.arm(
            .closeSilentConnections, by: now.adding(milliseconds: Self.silenceCheckMilliseconds))
    }

    /// Closes connections whose time for a hello is over.
    mutating func closeSilentConnections() {
        for socket in listenerSockets {
            let limit = ListenerSocket.silenceMilliseconds
            for silent in socket.connections.silent(for: limit, at: now) {
                _ = try? silent.shutDown()
            }
            watchSilentConnections(of: socket)
        }
    }

    private static var silenceCheckMilliseconds: Int { 1_000 }
}

/// The coordinator's own timers, besides those of the scheduler (`nextDeadline`).
enum CoordinatorTimer: Hashable, Sendable, CaseIterable {
    /// Retry sending to blocked peers.
    case retryPeers
    /// Notify workers of freed blocks.
    case sendReleases
    /// End uploads that timed out.
    case expireUploads
    /// End the sessions of clients that don't read chunks.
    case endStalledDeliveries
    /// Close connections that never said hello.
    case closeSilentConnections
    /// A phase of the shutdown timed out.
    case shutdown
}

/// The coordinator's timers, at most one of each kind.
///
/// An armed timer means "check by then": the handler finds out what is due, possibly nothing, and
/// rearms the timer if something remains. So timers are never disarmed, and postponing a deadline
/// costs nothing.
struct CoordinatorTimers {
    /// When each armed timer is due.
    private var armed: [CoordinatorTimer: Instant] = [:]

    /// When the first timer is due; `nil` if none is armed.
    var nextDue: Instant? { armed.values.min() }

    /// Arms a timer for `due`, unless it is due earlier.
    mutating func arm(_ timer: CoordinatorTimer, by due: Instant) {
        armed[timer] = min(due, armed[timer] ?? due)
    }

    /// Removes and returns all due timers, earliest first. A timer that is rearmed while they are
    /// handled fires in the next turn.
    mutating func removeDue(at now: Instant) -> [CoordinatorTimer] {
        guard let first = nextDue, first <= now else { return [] }
        let due = CoordinatorTimer.allCases.compactMap { timer in
            armed[timer].flatMap { $0 <= now ? (timer: timer, due: $0) : nil }
        }
        for (timer, _) in due { armed[timer] = nil }
        return due.sorted { $0.due < $1.due }.map(\.timer)
    }
}

/// The time limit for a part of a turn. Remaining work continues in the next turn, which follows at
/// once.
struct TurnBudget {
    /// The budget in milliseconds for the messages of all listeners. Operators, who are served
    /// first in each turn, wait for at most two budgets and the current event. Events are short,
    /// because work on many requests is split into several events.
    static let milliseconds = 20

    private let end: Instant
    private var unread = 0

    init(from now: Instant = .now(), milliseconds: Int = Self.milliseconds) {
        end = now.adding(milliseconds: milliseconds)
    }

    /// Returns whether the budget is spent. Reads the clock after each `long` item, otherwise only
    /// occasionally: a hit takes 4 µs.
    mutating func isSpent(afterLong isLong: Bool = true) -> Bool {
        unread += 1
        guard isLong || unread >= Self.shortsMax else { return false }
        unread = 0
        return .now() >= end
    }

    private static let shortsMax = 16
}
