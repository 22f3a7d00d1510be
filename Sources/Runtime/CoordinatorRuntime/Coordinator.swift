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
