import Dispatching
public import ImageModel
public import Messages
import Tables

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
/// Jobs and workers are the dispatcher's: nodes submit work, and hear what came of it.
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
    var dispatcher: Dispatcher
    /// What the outcomes of jobs are for that somebody wants.
    var purposes: [JobID: JobPurpose] = [:]

    // Bytes.
    var resultBlocks: ResultBlocks
    var hits: HitIndex
    var touches = TouchBatch()
    /// Such pixels do not count as output of decoders: who keeps them may wait for that.
    var overlayBytes: OverlayBytes { didSet { dispatcher.pixelBytesApart = overlayBytes.count } }

    /// Sources that failed for good, with the error for which each was entered.
    var blacklist: DenyList<ScopedSource, ErrorCode>
    /// How long requests took.
    var requestTimes = LatencyHistogram()

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
        dispatcher = Dispatcher(limits: limits.dispatch)
        names = RequestNamesMemo(namesMax: limits.namesMax)
        overlayBytes = OverlayBytes(max: limits.overlayBytesMax)
        hits = HitIndex(entriesMax: limits.hitsMax)
        resultBlocks = ResultBlocks(
            unreleasedBytesMax: limits.unreleasedBytesMax,
            unreleasedBytesPerClientMax: limits.unreleasedBytesPerClientMax)
        blacklist = DenyList(
            entriesMax: limits.blacklistMax, milliseconds: limits.blacklistMilliseconds)
    }

    /// Takes an event in and appends what is to be done, in order. `now` never runs backwards; an
    /// earlier moment counts as the latest one seen. What happened counts before deadlines that
    /// passed unnoticed until then. Events of clients and workers that are not there are ignored.
    public mutating func handle(
        _ event: SchedulerEvent, at now: Instant, into actions: inout [SchedulerAction]
    ) {
        self.now = max(self.now, now)
        dispatcher.now = self.now
        swap(&self.actions, &actions)
        take(event)
        conclude()
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
            dispatcher.workerJoined(worker, kind, incarnation, credit: credit)
        case .credit(let worker, let more): dispatcher.grew(worker, by: more)
        case .segmentsOpened(let worker, let segments): dispatcher.opened(segments, by: worker)
        case .segmentsClosed(let worker, let segments): dispatcher.closed(segments, by: worker)
        case .progress(let worker, let progress): dispatcher.progressed(progress, at: worker)
        case .outcome(let worker, let outcome): collect(outcome, from: worker)
        case .stored(let worker, let notice): stored(notice, by: worker)
        case .evicted(let worker, let blocks): evicted(blocks, by: worker)
        case .workerDraining(let worker): dispatcher.workerDraining(worker)
        case .workerLeft(let worker, let crash): dispatcher.workerGone(worker, crash)
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
        if !hasOverdueAlarms { dispatcher.dispatch() }
        conclude()
        tellPrefetches()
        tellTouched(atLeast: limits.touchedMax)
        forgetAlarms()
        if isDraining, !saidDrained, requests.count == 0 {
            saidDrained = true
            actions.append(.drained)
        }
    }
}
