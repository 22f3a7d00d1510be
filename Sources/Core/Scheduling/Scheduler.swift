public import ImageModel
public import Messages

/// The coordinator's brain: events in, actions out; no I/O, no clock (SEMANTICS §2 to §9).
///
/// A request is **admitted**, its **plan** sends it from one way to an image to the next, jobs are
/// **dispatched** to workers against credit, outcomes are **collected**, and there is exactly one
/// **reply**. In between, requests wait at nodes, each of which does one piece of work for all who
/// want it:
///
///     requests ──► LookupNode                               a query of the result's key
///     requests ──► ResultNode ──► DecodeNode ──► SourceNode a result, its pixels, its bytes
///     requests, results ────────► DecodeNode ──► SourceNode what is laid over it
///     requests ──► TranscodeNode                            what a serializer makes, under way
///                                                           to the disk
///
/// A job holds the blocks that it reads while it is there; a node holds what it keeps.
/// What is lost with a worker dissolves the nodes that need it, and their requests begin again.
public struct Scheduler: Sendable {
    let limits: SchedulerLimits
    /// Names header values in cache keys without telling them.
    let variantDigest: @Sendable ([HTTPHeader]) -> String

    /// What requests become that are begun later than they came. Whoever knows a configuration sets
    /// it, and sets it again when that has changed; without one they stay as they are.
    public var lateResolution: LateResolution = { request, _ in Resolution(request) }

    // Who asks.
    var clients: [ClientID: LiveClient] = [:]
    var requests = SlotTable<LiveRequest>()
    var tokens: [Token: LiveRequest.ID] = [:]
    var names: RequestNamesMemo
    var variances: VarianceTable
    /// Lists of URLs that will be wanted, and whose they are.
    var batches = SlotTable<PrefetchBatch>()
    var batchTokens: [Token: PrefetchBatch.ID] = [:]
    var prefetchers: [ClientID: Prefetcher] = [:]
    /// Clients that may begin URLs, in turn.
    var awake = Fifo<ClientID>()
    /// Batches of which a report is due at the end of the event.
    var owing: [PrefetchBatch.ID] = []

    /// What concerns many requests, and is not done to all of them.
    var bulk = Fifo<BulkWork>()

    // What is being done, by what it is.
    var lookups = SlotTable<LookupNode>()
    var results = SlotTable<ResultNode>()
    var decodes = SlotTable<DecodeNode>()
    var sources = SlotTable<SourceNode>()
    /// Other encodings of what was made, for the disk.
    var transcodes = SlotTable<TranscodeNode>()
    /// By the text of the key; those of one text differ in what they ask.
    var lookupTable = Multimap<String, LookupNode.ID>()
    var resultTable: [ResultName: ResultNode.ID] = [:]
    var decodeTable: [Sourced<DecodeKey>: DecodeNode.ID] = [:]
    /// Those of one key differ in their origin.
    var sourceTable = Multimap<SourceKey, SourceNode.ID>()

    // Who does it.
    var roster = WorkerRoster()
    /// The one cache, while it is there.
    var cache: WorkerID?
    var jobs: [JobID: ActiveJob] = [:]
    var lastJob: UInt64 = 0
    var lastTransfer = TransferSerial()
    /// By raw value of the kind.
    var queues: [StageQueue]
    /// By raw value of the stage.
    var loads = JobStage.allCases.map { _ in StageLoad() }
    /// Jobs that found no space, the first one first; some may have left.
    var parked: [JobID] = []
    var parkedSince: Instant?

    // Bytes.
    var ledger: BlockLedger
    var resultBlocks: ResultBlocks
    var hits: HitIndex
    var touches = TouchBatch()
    var overlayBytes: OverlayBytes

    // What is not tried, and how long cancels took.
    var quarantine: Quarantine
    /// With the error for which each was entered.
    var blacklist: ShunTable<ScopedSource, ErrorCode>
    /// The last number of an entry of either.
    var lastShunned: UInt64 = 0
    var cancellations = CancellationLog()
    var log = StageLog()

    // Time.
    var now = Instant(nanoseconds: 0)
    var alarms = Heap<Alarm>()
    var lastAlarm: UInt64 = 0

    // What one event leads to.
    var actions: [SchedulerAction] = []
    /// Requests on their way to their next node; they move once nothing is being taken apart.
    var moving = Fifo<Move>()

    var counters = SchedulerCounters()
    var isDraining = false
    var saidDrained = false

    /// Nobody asks, nobody works.
    ///
    /// `variantDigest` is of the values on which an origin's answer depends: short, fit for a key,
    /// and such that nobody can compute the digest of a guess.
    public init(
        limits: SchedulerLimits = SchedulerLimits(),
        variantDigest: @escaping @Sendable ([HTTPHeader]) -> String
    ) {
        self.limits = limits
        self.variantDigest = variantDigest
        variances = VarianceTable(keysMax: limits.namesMax)
        // How long a transfer takes its origin decides: only there may one flow keep what it has.
        queues = WorkerKind.allCases.map { kind in
            kind == .download
                ? StageQueue(
                    order: limits.fetchOrder, heldPerHostMax: limits.fetchesPerHostMax,
                    isShared: true)
                : StageQueue()
        }
        names = RequestNamesMemo(namesMax: limits.namesMax)
        ledger = BlockLedger(segmentsMax: limits.segmentsPerWorkerMax)
        overlayBytes = OverlayBytes(max: limits.overlayBytesMax)
        hits = HitIndex(entriesMax: limits.hitsMax)
        resultBlocks = ResultBlocks(
            unreleasedBytesMax: limits.unreleasedBytesMax,
            unreleasedBytesPerClientMax: limits.unreleasedBytesPerClientMax)
        quarantine = Quarantine(
            entriesMax: limits.quarantineMax, milliseconds: limits.quarantineMilliseconds)
        blacklist = ShunTable(
            entriesMax: limits.blacklistMax, milliseconds: limits.blacklistMilliseconds)
    }

    /// Takes an event in and appends what is to be done, in order. `now` never runs backwards; an
    /// earlier moment counts as the latest one seen. What happened counts before deadlines that
    /// passed unnoticed until then. Events of clients and workers that are not there are ignored.
    public mutating func handle(
        _ event: SchedulerEvent, at now: Instant, into actions: inout [SchedulerAction]
    ) {
        self.now = max(self.now, now)
        swap(&self.actions, &actions)
        take(event)
        ringAlarms()
        settle()
        swap(&self.actions, &actions)
    }

    private mutating func take(_ event: SchedulerEvent) {
        switch event {
        case .clientJoined(let client, let incarnation, let process):
            clients[client] =
                clients[client] ?? LiveClient(incarnation, ShareOwner(process, client))
        case .load(let client, let load, let terms): admit(load, of: client, terms)
        case .loadUpload(let client, let load, let terms, let reference):
            admitUpload(load, of: client, terms, reference)
        case .put(let client, let load, let terms, let reference):
            admitPut(load, of: client, terms, reference)
        case .cancel(let client, let token): cancel(token, of: client)
        case .cancelGroup(let client, let group): cancelGroup(group, of: client)
        case .reprioritise(let client, let token, let priority):
            reprioritise(token, of: client, priority)
        case .reprioritiseGroup(let client, let group, let priority):
            reprioritise(group, of: client, priority)
        case .prefetch(let client, let request, let terms):
            prefetch(request, of: client, terms)
        case .prefetchRefused(let client, let token): refusedPrefetch(token, of: client)
        case .leaveSlot(let client, let slot): endSlot(slot, of: client)
        case .cancelAny(let token): cancelAny(token)
        case .cancelGroupOfAny(let group): cancelGroupOfAny(group)
        case .blacklist(let client, let command): obey(command, of: client)
        case .cache(let client, let command): obey(command, of: client)
        case .clientReleased(let client, let blocks): released(blocks, by: client)
        case .clientLeft(let client): clientLeft(client)
        case .workerJoined(let worker, let kind, let incarnation, let credit):
            workerJoined(worker, kind, incarnation, credit: credit)
        case .credit(let worker, let more): grew(worker, by: more)
        case .segmentsOpened(let worker, let segments): opened(segments, by: worker)
        case .segmentsClosed(let worker, let segments): closed(segments, by: worker)
        case .progress(let worker, let progress): progressed(progress, at: worker)
        case .outcome(let worker, let outcome): collect(outcome, from: worker)
        case .stored(let worker, let notice): stored(notice, by: worker)
        case .evicted(let worker, let blocks): evicted(blocks, by: worker)
        case .workerDraining(let worker): roster[worker]?.isDraining = true
        case .workerLeft(let worker, let crash): workerGone(worker, crash)
        case .tick: break
        case .drain: beginDrain()
        }
    }

    /// Nothing new is admitted; what waits to be prefetched is not begun either.
    private mutating func beginDrain() {
        isDraining = true
        refuseBatches()
    }

    /// What follows from an event once all tables are consistent again.
    private mutating func settle() {
        if bulk.count > 0 { doBulkWork() }
        moveOn()
        if wantsToPrefetch { beginPrefetches() }
        // What nobody wants any more by now is given to nobody.
        if !hasOverdueAlarms { dispatch() }
        tellPrefetches()
        tellTouched(atLeast: limits.touchedMax)
        forgetAlarms()
        if isDraining, !saidDrained, requests.count == 0 {
            saidDrained = true
            actions.append(.drained)
        }
    }
}
