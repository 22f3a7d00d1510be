import Derivation
import Dispatching
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
