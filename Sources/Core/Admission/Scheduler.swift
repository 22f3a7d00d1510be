public import Derivation
public import Dispatching
public import ImageModel
public import Messages
import Tables

/// The coordinator's brain: events in, actions out; no I/O, no clock (SEMANTICS §2 to §9).
///
/// A request is **admitted**. Its **plan** sends it from one way to an image to the next. On each
/// way it waits for work that is shared with all requests for the same. There is exactly one
/// **reply**.
///
/// That work is the deriver's: requests wait there, and events say what became of them.
public struct Scheduler: Sendable {
    private let passing = PassedByAddress()
    let limits: SchedulerLimits

    /// Resolves requests that begin later than they came. The owner of the configuration sets it,
    /// and sets it again when the configuration has changed. Without one such requests stay as they
    /// are.
    public var lateResolution: LateResolution = { request, _ in Resolution(request) }

    // Clients and their requests.
    var clients: [ClientID: LiveClient] = [:]
    var requests = SlotTable<LiveRequest>()
    var tokens: [Token: LiveRequest.ID] = [:]
    var prefetching = Prefetching()

    // Names that were derived before.
    var namesMemo: RequestNamesMemo
    /// Answers of memory, and the deny list.
    var hits: Hits

    /// Work that is done for requests.
    var deriver: Deriver

    // What is to be done, now and later.
    var agenda = Agenda()
    var deadlines = Deadlines()
    /// Results about which the origin is asked in the background, by their texts.
    var silent: Set<String> = []
    /// What makes milliseconds since 1970 of those of `now`. The owner of the clocks sets it.
    public var calendarOffsetMilliseconds: Int64 = 0
    var now = Instant(nanoseconds: 0)
    var drain = Drain()
    /// What one event leads to.
    var actions: [SchedulerAction] = []

    var figures = RequestFigures()

    /// A scheduler without clients and workers.
    ///
    /// `variantDigest` is of the values on which an origin's answer depends: short, fit for a key,
    /// and such that nobody can compute the digest of a guess.
    public init(
        limits: SchedulerLimits = SchedulerLimits(),
        variantDigest: @escaping @Sendable ([HTTPHeader]) -> String
    ) {
        self.limits = limits
        namesMemo = RequestNamesMemo(namesMax: limits.namesMax)
        hits = Hits(limits)
        deriver = Deriver(
            limits: limits.derivation, dispatch: limits.dispatch, variantDigest: variantDigest)
    }

    /// Takes an event in and appends what is to be done, in order. `now` never runs backwards; an
    /// earlier moment counts as the latest one seen. What happened counts before deadlines that
    /// passed unnoticed until then. Events of clients and workers that are not there are ignored.
    public mutating func handle(
        _ event: SchedulerEvent, at now: Instant, into actions: inout [SchedulerAction]
    ) {
        self.now = max(self.now, now)
        deriver.now = self.now
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
        case .loadUpload(let client, let load, let terms, let reference, let format):
            admitUpload(load, of: client, terms, reference, format)
        case .put(let client, let load, let terms, let reference, let format):
            admitPut(load, of: client, terms, reference, format)
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
        case .downloads(let command): obey(command)
        case .transfersMax(let count): deriver.limitTransfers { $0.heldMax = count }
        case .caches(let layout): adopt(layout)
        case .used(let used): self.used(used)
        case .clientReleased(let client, let blocks): released(blocks, by: client)
        case .clientLeft(let client): clientLeft(client)
        case .workerJoined(
            let worker, let kind, let incarnation, let credit, let pool, let capabilities):
            deriver.workerJoined(
                worker, pool ?? PoolID(kind), incarnation, credit: credit, capabilities)
        case .credit(let worker, let more): deriver.grew(worker, by: more)
        case .segmentsOpened(let worker, let segments): deriver.opened(segments, by: worker)
        case .segmentsClosed(let worker, let segments): deriver.closed(segments, by: worker)
        case .progress(let worker, let progress): deriver.progressed(progress, at: worker)
        case .outcome(let worker, let outcome): collect(outcome, from: worker)
        case .stored(let worker, let notice): stored(notice, by: worker)
        case .evicted(let worker, let blocks): evicted(blocks, by: worker)
        case .workerDraining(let worker): deriver.workerDraining(worker)
        case .workerLeft(let worker, let crash): deriver.workerLeft(worker, crash)
        case .tick: break
        case .drain: beginDrain()
        }
    }

    /// Nothing new is admitted; what waits to be prefetched is not begun either.
    private mutating func beginDrain() {
        drain.isBegun = true
        hits.withdraw(.drained)
        refuseBatches()
    }

    /// Gives out work, until that sends no request elsewhere. Work that nobody wants any more is
    /// not given out. Work that waited for space which is free now is.
    private mutating func handOut() {
        repeat {
            moveOn()
            conclude()
            if !hasOverdueAlarms { deriver.dispatch() }
            conclude()
        } while agenda.moving.count > 0
    }

    /// What follows from an event once all tables are consistent again.
    private mutating func settle() {
        if agenda.bulk.count > 0 { doBulkWork() }
        moveOn()
        if wantsToPrefetch { beginPrefetches() }
        handOut()
        tellPrefetches()
        tellTouched(atLeast: limits.touchedMax)
        forgetAlarms()
        if drain.isBegun, !drain.isTold, requests.count == 0 {
            drain.isTold = true
            actions.append(.drained)
        }
    }
}

/// What happens to the scheduler. The runtime turns messages, connections and the clock into these.
public indirect enum SchedulerEvent: Hashable, Sendable {
    /// A client was welcomed. The number of its process is the kernel's, where it gives one, so
    /// that all sessions of a process have one share together. The client's own word does not
    /// count.
    case clientJoined(ClientID, Incarnation, process: Int32? = nil)
    /// A client wants an image: the request as the configuration made it, and on what terms.
    case load(ClientID, LoadRequest, LoadTerms)
    /// A client wants an image of bytes that it brought along. They lie in a block that the
    /// coordinator made (`WorkerID.coordinator`), and the URL is the name of their digest. The
    /// format is what the first bytes look like.
    case loadUpload(ClientID, LoadRequest, LoadTerms, BlockReference, ImageFormat? = nil)
    /// An operator puts bytes that came along under the key that the request names as its base key.
    case put(ClientID, LoadRequest, LoadTerms, BlockReference, ImageFormat? = nil)
    /// A client no longer wants one image, or one batch.
    case cancel(ClientID, Token)
    /// A client no longer wants any image of a group.
    case cancelGroup(ClientID, GroupID)
    /// A client wants one image, or one batch, more or less badly than it said.
    case reprioritise(ClientID, Token, Priority)
    /// A client wants all images of a group more or less badly than it said.
    case reprioritiseGroup(ClientID, GroupID, Priority)
    /// A client will want images: a batch of URLs, or a further part of one. The terms are those of
    /// the template: what they refuse refuses the batch. URLs are resolved when they are begun.
    case prefetch(ClientID, PrefetchRequest, LoadTerms)
    /// A part of a prefetch could not be read, and its client was told so: the batch is over.
    case prefetchRefused(ClientID, Token)
    /// A client wants something else in a slot, which will be admitted later.
    case leaveSlot(ClientID, slot: String)
    /// An operator ends a request or a batch of any client.
    case cancelAny(Token)
    /// An operator ends all requests of a group, of any client.
    case cancelGroupOfAny(GroupID)
    /// An operator asks for, or changes, what is not tried.
    case blacklist(ClientID, BlacklistCommand)
    /// An operator asks about, or removes, an entry of the cache.
    case cache(ClientID, CacheCommand)
    /// An operator suspends transfers, or lets them go on.
    case downloads(DownloadCommand)
    /// The configuration says how many transfers there may be at a time; `nil`: as many as workers
    /// take.
    case transfersMax(Int?)
    /// The configuration says which names of caches stand for several.
    case caches(CacheLayout)
    /// A client answered loads by vouchers.
    case used(UsedVouchers)
    /// A client no longer reads these large blocks of `results/`.
    case clientReleased(ClientID, [BlockID])
    /// A client's connection ended.
    case clientLeft(ClientID)

    /// A worker was welcomed. Where no pool is named, it belongs to the own pool of its kind.
    case workerJoined(
        WorkerID, kind: WorkerKind, incarnation: Incarnation, credit: UInt32, pool: PoolID? = nil,
        capabilities: WorkerCapabilities = .all)
    /// A worker takes that many more jobs.
    case credit(WorkerID, UInt32)
    /// A worker made segments.
    case segmentsOpened(WorkerID, [SegmentAnnouncement])
    /// A worker unlinked segments.
    case segmentsClosed(WorkerID, [SegmentAnnouncement])
    /// How far a job is.
    case progress(WorkerID, JobProgress)
    /// A job ended.
    case outcome(WorkerID, JobOutcome)
    /// The cache answers a key from memory from now on.
    case stored(WorkerID, StoredNotice)
    /// Blocks of `results/` hold their keys no longer.
    case evicted(WorkerID, [BlockID])
    /// A worker takes nothing new.
    case workerDraining(WorkerID)
    /// A worker's connection ended. The record is what it left, where it crashed.
    case workerLeft(WorkerID, CrashRecord?)

    /// Deadlines may have passed.
    case tick
    /// Admit nothing new; `drained` follows when all admitted requests have ended.
    case drain
}

/// What the runtime is to do, in order.
public indirect enum SchedulerAction: Hashable, Sendable {
    /// Give a job to a worker.
    case assign(WorkerID, Job)
    /// Tell a worker that nobody wants a job any more.
    case cancelJob(WorkerID, JobID)
    /// Tell a worker the new deadline or class of a job.
    case adjust(WorkerID, JobAdjustment)
    /// Tell a producer that blocks are free; at once, or together with what it is told next.
    case release(WorkerID, [BlockID], isPrompt: Bool)
    /// Tell the cache what was used.
    case touched(WorkerID, [BlockID])
    /// End a session: its worker broke the protocol.
    case expel(WorkerID, ImageError)
    /// Answer a request for good.
    case reply(ClientID, Reply)
    /// Say in the log how a request ended; its reply comes before.
    case record(RequestRecord)
    /// Tell a client how far a request is.
    case progress(ClientID, RequestProgress)
    /// Tell a client how far a batch is; a final report is the last word about it.
    case prefetched(ClientID, PrefetchReport)
    /// Tell a client that a batch is not done, as the last word about it.
    case refused(ClientID, ImageError, Token)
    /// Answer an operator.
    case blacklist(ClientID, BlacklistReport)
    /// Answer an operator about an entry.
    case cache(ClientID, CacheReport)
    /// Everything admitted has ended after `drain`.
    case drained
}

/// Every limit of the scheduler; nothing in it grows beyond what is written here.
public struct SchedulerLimits: Hashable, Sendable {
    /// Of jobs and workers.
    public var dispatch = DispatchLimits()
    /// Of what is made.
    public var derivation = DerivationLimits()

    /// Requests without a terminal reply, all clients together; one more is `busy`.
    public var liveRequestsMax = 65_536
    /// Requests without a terminal reply of one client; one more is `busy`.
    public var requestsPerClientMax = MessageLimits.windowMax
    /// Prefetches of one client that have not ended; one more is `busy`.
    public var batchesPerClientMax = 64
    /// URLs that wait in all prefetches of one client, and their bytes, `prefetchOverheadBytes`
    /// more for each; more is `busy`.
    public var prefetchesPerClientMax = 2 * RequestLimits.prefetchMax
    /// See `prefetchesPerClientMax`.
    public var prefetchBytesPerClientMax = 64 << 20
    /// The same bytes of all clients together; more is `busy`.
    public var prefetchBytesMax = 256 << 20
    /// Bytes that a URL which waits costs besides its text: all that is kept of it is that text.
    public static let prefetchOverheadBytes = 64
    /// URLs of prefetches that are begun in one event.
    public var prefetchesBegunMax = 64
    /// Requests that one event deals with where it concerns many, such as replies of one result or
    /// the ends of a session. The rest follows in the next events. As many alarms ring in one
    /// event.
    public var bulkStepsMax = 64
    /// The same where a request only goes on to other work and nobody is told, which takes a
    /// sixteenth as long. The sooner all of them have joined, the fewer begin the same work a
    /// second time.
    public var bulkMovesMax = 1_024
    /// Entries of the memory tier that the coordinator answers by itself; the oldest makes room.
    public var hitsMax = 100_000
    /// Answers that clients may repeat by themselves at a time; one more withdraws the oldest. 0:
    /// each is asked for.
    public var vouchersMax = 131_072
    /// Requests whose keys are remembered, so that a hit does not derive them again.
    public var namesMax = 4_096

    /// Bytes of large results that clients have not released, all of them together and each. Beyond
    /// that a client is told to copy.
    public var unreleasedBytesMax: UInt64 = 256 << 20
    /// See `unreleasedBytesMax`.
    public var unreleasedBytesPerClientMax: UInt64 = 64 << 20

    /// Sources that failed for good and are remembered, and for how long; 0 milliseconds: for ever.
    public var blacklistMax = 10_000
    /// See `blacklistMax`.
    public var blacklistMilliseconds = 600_000

    /// Used blocks that are collected for one `Touched`: as many as fit one. The load that fills it
    /// is admitted the whole way.
    public var touchedMax = MessageLimits.idsMax
    /// Milliseconds for which they are collected.
    public var touchedMilliseconds = 100

    /// The defaults.
    public init() {}
}

/// Whether nothing new is admitted, and whether it was said that all has ended.
struct Drain: Sendable {
    var isBegun = false
    var isTold = false
}
