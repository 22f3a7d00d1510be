package import Model

/// The decision logic of the coordinator: it takes events and returns actions, without I/O or a
/// clock (SEMANTICS §2 to §9).
///
/// A request is **admitted**. Its **plan** moves it from one source stage to the next. In each
/// stage it waits for work shared with all requests for the same image. There is exactly one
/// terminal **reply**.
///
/// `WorkGraph` does that work: requests wait there, and its events report the outcomes. It submits
/// jobs to the `Dispatcher`, which assigns them to workers. All three are confined to one thread.
package final class Scheduler {
    let limits: SchedulerLimits

    /// Resolves requests that start later than they arrive. The owner of the configuration must set
    /// it, and set it again after configuration changes. By default, such requests are left
    /// unchanged.
    var lateResolution: LateResolution = { request, _ in Resolution(request) }

    // Clients and their requests.
    var clients: [ClientID: LiveClient] = [:]
    var requests = SlotMap<LiveRequest>()
    var tokens: [Token: LiveRequest.ID] = [:]
    var prefetching = Prefetching()

    /// A cache of the keys that are derived from requests.
    /// Answers from memory, and the failure cache.
    var hits: Hits

    let workGraph: WorkGraph
    let dispatcher: Dispatcher
    let shared = SharedState()

    // Pending transitions and batch operations.
    var pendingTransitions = PendingTransitions()
    var deadlines = AlarmQueue<LiveRequest.ID>()
    /// The keys of results that are revalidated in the background.
    var silent: Set<String> = []
    /// The offset to add to the milliseconds of `now` to get milliseconds since 1970. Set by the
    /// owner of the clocks.
    var calendarOffsetMilliseconds: Int64 = 0
    /// The time of the current event.
    var now: Instant { shared.now }
    var drain = Drain()
    /// Latencies of requests from admission to reply.
    var times = LatencyHistogram()

    /// Creates a scheduler without clients and workers.
    ///
    /// `variantDigest` must return a short digest of the headers that a response varies on, usable
    /// in a key and not computable from guessed values.
    package init(
        limits: SchedulerLimits = SchedulerLimits(),
        variantDigest: @escaping @Sendable ([HTTPHeader]) -> String
    ) {
        self.limits = limits
        hits = Hits(limits)
        dispatcher = Dispatcher(limits: limits.dispatch, shared)
        workGraph = WorkGraph(
            limits: limits.workGraph, dispatcher, shared, variantDigest: variantDigest)
    }

    /// Handles an event and appends the resulting actions in order. `now` never goes backward; an
    /// earlier time is treated as the latest one seen. Events take precedence over deadlines that
    /// passed unnoticed before them. Events of unknown clients and workers are ignored.
    package func handle(
        _ event: SchedulerEvent, at now: Instant, into actions: inout [SchedulerAction]
    ) {
        shared.now = max(shared.now, now)
        route(event)
        conclude()
        fireTimers()
        settle()
        if actions.isEmpty { return swap(&actions, &shared.actions) }
        actions += shared.actions
        shared.actions.removeAll(keepingCapacity: true)
    }

    private func route(_ event: SchedulerEvent) {
        switch event {
        case .clientJoined(let client, let incarnation, let process):
            clients[client] =
                clients[client] ?? LiveClient(incarnation, ShareOwner(process, client))
        case .load(let client, let load, let terms, let isRepeatable):
            admit(load, of: client, terms, isRepeatable: isRepeatable)
        case .loadUpload(let client, let load, let terms, let reference, let format):
            admitUpload(load, of: client, terms, reference, format)
        case .put(let client, let load, let terms, let reference, let format):
            admitPut(load, of: client, terms, reference, format)
        case .cancel(let client, let token): cancel(token, of: client)
        case .cancelGroup(let client, let group): cancelGroup(group, of: client)
        case .reprioritize(let client, let token, let priority):
            reprioritize(token, of: client, priority)
        case .reprioritizeGroup(let client, let group, let priority):
            reprioritize(group, of: client, priority)
        case .prefetch(let client, let request, let terms):
            prefetch(request, of: client, terms)
        case .prefetchRefused(let client, let token): refusedPrefetch(token, of: client)
        case .leaveSlot(let client, let slot): endSlot(slot, of: client)
        case .cancelAny(let token): cancelAny(token)
        case .cancelGroupOfAny(let group): cancelGroupOfAny(group)
        case .failureCache(let client, let command): apply(command, of: client)
        case .cache(let client, let command): apply(command, of: client)
        case .downloads(let command): apply(command)
        case .transfersMax(let count): dispatcher.transfers.heldMax = count
        case .caches(let layout): adopt(layout)
        case .used(let used): self.used(used)
        case .clientReleased(let client, let blocks): released(blocks, by: client)
        case .clientLeft(let client): clientLeft(client)
        case .workerJoined(
            let worker, let kind, let incarnation, let credit, let pool, let capabilities):
            dispatcher.workerJoined(
                worker, pool ?? PoolID(kind), incarnation, credit: credit, capabilities)
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

    /// Stops admitting requests; waiting prefetches are not started either.
    private func beginDrain() {
        drain.isBegun = true
        hits.withdraw(.drained)
        refuseBatches()
    }

    /// Assigns jobs to workers, and repeats while that moves further requests to their next stage.
    /// Pending transitions go first: they may cancel jobs, or free the space that jobs wait for.
    private func handOut() {
        repeat {
            moveOn()
            conclude()
            if !hasOverdueAlarms { dispatcher.dispatch() }
            conclude()
        } while pendingTransitions.moving.count > 0
    }

    /// Completes the handling of an event: runs batch operations and transitions, starts
    /// prefetches, assigns jobs and appends notifications. Called once per event, when all tables
    /// are consistent.
    private func settle() {
        if pendingTransitions.batchOperations.count > 0 { runBatchOperations() }
        moveOn()
        if wantsToPrefetch { beginPrefetches() }
        handOut()
        notifyPrefetches()
        notifyTouched(atLeast: limits.touchedMax)
        forgetAlarms()
        if drain.isBegun, !drain.isReported, requests.count == 0 {
            drain.isReported = true
            shared.actions.append(.drained)
        }
    }
}

/// An input of the scheduler. The runtime converts messages, connection changes and timers to
/// these.
package indirect enum SchedulerEvent: Hashable, Sendable {
    /// A client was welcomed. The process ID comes from the kernel, if available, never from the
    /// client; all sessions of a process have one common share.
    case clientJoined(ClientID, Incarnation, process: Int32? = nil)
    /// A client requests an image; the request and its terms are already resolved. A repeatable
    /// load resolves the same until the configuration changes, and need not be logged if it is a
    /// hit: the answer then has a voucher, and a ticket precedes it.
    case load(ClientID, LoadRequest, LoadTerms, isRepeatable: Bool = false)
    /// A client requests an image from uploaded bytes. They are in a block of the coordinator
    /// (`WorkerID.coordinator`), and the URL contains their digest. The format is detected from the
    /// first bytes.
    case loadUpload(ClientID, LoadRequest, LoadTerms, BlockReference, ImageFormat? = nil)
    /// An operator puts uploaded bytes under the key given as the base key of the request.
    case put(ClientID, LoadRequest, LoadTerms, BlockReference, ImageFormat? = nil)
    /// A client cancels an image or a batch.
    case cancel(ClientID, Token)
    /// A client cancels all images of a group.
    case cancelGroup(ClientID, GroupID)
    /// A client changes the class of an image or a batch.
    case reprioritize(ClientID, Token, Priority)
    /// A client changes the class of all images of a group.
    case reprioritizeGroup(ClientID, GroupID, Priority)
    /// A client prefetches images: a part of a batch of URLs. The terms are those of the template,
    /// and their refusal refuses the batch. URLs are resolved when they are started.
    case prefetch(ClientID, PrefetchRequest, LoadTerms)
    /// A part of a prefetch was invalid, and its client was notified: the batch ends.
    case prefetchRefused(ClientID, Token)
    /// A client replaces the image of a slot with one that will be admitted later.
    case leaveSlot(ClientID, slot: String)
    /// An operator cancels a request or batch of any client.
    case cancelAny(Token)
    /// An operator cancels all requests of a group, of any client.
    case cancelGroupOfAny(GroupID)
    /// An operator lists or changes the failure cache and the quarantine.
    case failureCache(ClientID, FailureCacheCommand)
    /// An operator queries or removes cache entries.
    case cache(ClientID, CacheCommand)
    /// An operator suspends or resumes transfers.
    case downloads(DownloadCommand)
    /// The configured limit on concurrent transfers; `nil` means as many as workers accept.
    case transfersMax(Int?)
    /// The configured composite and external caches.
    case caches(CacheLayout)
    /// A client answered loads with vouchers.
    case used(UsedVouchers)
    /// A client released these large blocks of `results/`.
    case clientReleased(ClientID, [BlockID])
    /// A client's connection ended.
    case clientLeft(ClientID)

    /// A worker was welcomed. If no pool is named, it joins the built-in pool of its kind.
    case workerJoined(
        WorkerID, kind: WorkerKind, incarnation: Incarnation, credit: UInt32, pool: PoolID? = nil,
        capabilities: WorkerCapabilities = .all)
    /// A worker accepts this many more jobs.
    case credit(WorkerID, UInt32)
    /// A worker created segments.
    case segmentsOpened(WorkerID, [SegmentAnnouncement])
    /// A worker unlinked segments.
    case segmentsClosed(WorkerID, [SegmentAnnouncement])
    /// A worker reports the progress of a job.
    case progress(WorkerID, JobProgress)
    /// A worker reports the outcome of a job.
    case outcome(WorkerID, JobOutcome)
    /// The cache can now answer a key from memory.
    case stored(WorkerID, StoredNotice)
    /// Blocks of `results/` no longer contain their keys.
    case evicted(WorkerID, [BlockID])
    /// A worker accepts no more jobs.
    case workerDraining(WorkerID)
    /// A worker's connection ended. The crash record is present if the worker left one.
    case workerLeft(WorkerID, CrashRecord?)

    /// Deadlines may have passed.
    case tick
    /// Stop admitting requests; `drained` follows when all admitted requests have ended.
    case drain
}

/// An action for the runtime, to be performed in order.
package indirect enum SchedulerAction: Hashable, Sendable {
    /// Assigns a job to a worker.
    case assign(WorkerID, Job)
    /// Cancels a job that is no longer wanted.
    case cancelJob(WorkerID, JobID)
    /// Changes the deadline or class of a job.
    case adjust(WorkerID, JobAdjustment)
    /// Releases blocks to their producer, either at once or together with the next message.
    case release(WorkerID, [BlockID], isPrompt: Bool)
    /// Reports used blocks to the cache.
    case touched(WorkerID, [BlockID])
    /// Ends the session of a worker that violated the protocol.
    case expel(WorkerID, ImageError)
    /// Provides the ticket of the hit whose reply follows.
    case granted(HitTicket)
    /// Sends the reply to a request.
    case reply(ClientID, Reply)
    /// Logs how a request ended, after its reply.
    case record(RequestRecord)
    /// Sends the progress of a request to its client.
    case progress(ClientID, RequestProgress)
    /// Sends the progress of a batch to its client; a final report is the last one.
    case prefetched(ClientID, PrefetchReport)
    /// Notifies a client that a batch was refused; no report follows.
    case refused(ClientID, ImageError, Token)
    /// Answers an operator's failure cache command.
    case failureCache(ClientID, FailureCacheReport)
    /// Answers an operator's cache command.
    case cache(ClientID, CacheReport)
    /// Reports that all admitted requests have ended after `drain`.
    case drained
}

/// Limits of the scheduler; they bound all of its data structures.
package struct SchedulerLimits: Hashable, Sendable {
    /// Limits of jobs and workers.
    package var dispatch = DispatchLimits()
    /// Limits on produced images and intermediate data.
    package var workGraph = WorkGraphLimits()

    /// The largest number of live requests of all clients; further ones are refused as `busy`.
    package var liveRequestsMax = 65_536
    /// The largest number of live requests per client; further ones are refused as `busy`.
    var requestsPerClientMax = MessageLimits.windowMax
    /// The largest number of unfinished prefetches per client; further ones are refused as `busy`.
    var batchesPerClientMax = 64
    /// The largest number of waiting prefetch URLs per client, and their size in bytes including
    /// `prefetchOverheadBytes` each; beyond it, prefetches are refused as `busy`.
    var prefetchesPerClientMax = 2 * RequestLimits.prefetchMax
    /// See `prefetchesPerClientMax`.
    var prefetchBytesPerClientMax = 64 << 20
    /// The same size limit for all clients together; beyond it, prefetches are refused as `busy`.
    var prefetchBytesMax = 256 << 20
    /// The overhead in bytes of a waiting URL in addition to its text, which is all that is kept of
    /// it.
    static let prefetchOverheadBytes = 64
    /// The largest number of prefetch URLs started in one event.
    var prefetchesBegunMax = 64
    /// The largest number of requests that one event processes in batch operations, such as
    /// replying to all requests for a result, and the largest number of timers that it fires. Later
    /// events process the rest.
    var batchStepsMax = 64
    /// The same limit for requests that move to their next stage without a message, which takes a
    /// sixteenth of the time. The limit is higher because requests that join shared work late could
    /// start it a second time.
    var batchTransitionsMax = 1_024
    /// The largest number of memory tier entries that the coordinator can answer; beyond it, the
    /// oldest is dropped.
    package var hitsMax = 100_000
    /// The largest number of valid vouchers; one more invalidates the oldest. 0 disables vouchers.
    var vouchersMax = 131_072
    /// The number of originals whose header fields that their responses vary on are known.
    package var variancesMax = 4_096

    /// The largest number of bytes in large results that clients have not released, in total and
    /// per client. Beyond it, clients must copy.
    var unreleasedBytesMax: UInt64 = 256 << 20
    /// See `unreleasedBytesMax`.
    var unreleasedBytesPerClientMax: UInt64 = 64 << 20

    /// The largest number of sources in the failure cache, and their lifetime in milliseconds; 0
    /// means unlimited.
    var failureCacheMax = 10_000
    /// See `failureCacheMax`.
    var failureCacheMilliseconds = 600_000

    /// The number of used blocks reported in one `Touched`, which is as many as fit. The load that
    /// reaches it is handled without a hit ticket.
    var touchedMax = MessageLimits.idsMax
    /// The longest time in milliseconds before used blocks are reported.
    var touchedMilliseconds = 100

    /// Creates the default limits.
    package init() {}
}

/// The state that all parts of the scheduler share.
final class SharedState {
    /// The time of the current event.
    var now = Instant(nanoseconds: 0)
    /// The actions of the current event so far, in order.
    var actions: [SchedulerAction] = []
    var counters = SchedulerCounters()
}

/// Whether the scheduler is draining, and whether the end of the drain was reported.
struct Drain: Sendable {
    var isBegun = false
    var isReported = false
}
