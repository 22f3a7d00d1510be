import Model

/// The loads that have no result yet.
///
/// A pure value without I/O: events in, actions out. Methods named by a participle, such as
/// `cancelled`, handle an event and return actions. Every load ends exactly once, whatever happens
/// to the connection: a load that has no terminal reply and was not canceled is sent again in a new
/// session (PROTOCOL §5).
struct PendingRequests {
    /// An action for the connection to perform, in order.
    enum Action: Equatable {
        case load(PendingLoad)
        indirect case send(ClientMessage)
        /// Report progress to the caller.
        indirect case advance(RequestProgress)
        /// Fetch the bytes of a reply, then report the result to the caller.
        indirect case deliver(Reply)
        /// Report a failure to the caller.
        indirect case fail(PendingLoad, ImageError)
        /// Discard the chunks received under a token; its caller was notified before.
        case forget(Token)
    }

    typealias Actions = [Action]

    private let sharesLoads: Bool
    private let connectTimeoutMilliseconds: Int
    private let mayAskForChunks: Bool
    var entries: [Token: PendingLoad] = [:]
    /// Loads not yet sent, in order.
    private var queue = NumberedQueue<PendingLoad>()
    /// Loads refused by a coordinator that is shutting down; they are sent to the next one.
    private var postponed = NumberedQueue<PendingLoad>()
    /// The newest load of each slot.
    private var slots: [String: Token] = [:]
    private var lastSerial: UInt64 = 0
    var isWelcome = false
    /// Why the coordinator refused a session, if it did.
    private var refusal: ImageError?
    private var window = 0
    /// Whether the coordinator of this session can send bytes in chunks.
    private var knowsChunks = false
    /// The number of queue entries visited so far; a test checks its bound.
    var visitCount: Int { queue.visitCount + postponed.visitCount }
    /// The number of loads that were sent and have not ended.
    private(set) var sentCount = 0
    /// Loads that others can still join. Of loads that share a message, only the leader is queued
    /// and sent.
    var joinable = JoinableLoads()
    /// When to look for overdue loads: approximately the next deadline.
    private var earliest: Instant?

    /// `mayAskForChunks`: whether bytes that cannot be read from shared memory are requested in
    /// chunks. `sharesLoads`: whether identical loads queued before sending are combined into one
    /// message.
    init(
        connectTimeoutMilliseconds: Int, mayAskForChunks: Bool = true, sharesLoads: Bool = true
    ) {
        self.sharesLoads = sharesLoads
        self.connectTimeoutMilliseconds = connectTimeoutMilliseconds
        self.mayAskForChunks = mayAskForChunks
    }

    /// Whether nothing is pending.
    var isEmpty: Bool { entries.isEmpty }

    func load(of token: Token) -> PendingLoad? { entries[token] }

    mutating func submitted(_ load: PendingLoad, at now: Instant) -> Actions {
        guard entries[load.token] == nil else { return [] }
        load.isShareable = sharesLoads && load.mayBeShared
        if load.isShareable, let joined = join(load, at: now) { return joined }
        let superseded = supersede(by: load)
        enter(load, at: now)
        if load.isShareable { joinable.add(load) }
        if let slot = load.slot { slots[slot] = load.token }
        let sent = sendInTurn(load, at: now)
        return superseded.isEmpty ? sent : superseded + sent
    }

    mutating func enter(_ load: PendingLoad, at now: Instant) {
        lastSerial += 1
        load.serial = lastSerial
        load.deadline = now.adding(milliseconds: load.image.timeoutMilliseconds)
        load.unservedUntil = now.adding(milliseconds: connectTimeoutMilliseconds)
        entries[load.token] = load
        expect(due(load))
    }

    /// Ends the older load in the same slot. The coordinator would also cancel it on receiving the
    /// new load, but is told immediately, because the new load may have to wait for the window.
    private mutating func supersede(by load: PendingLoad) -> Actions {
        guard let slot = load.slot, let older = slots[slot],
            !load.image.options.contains(.avoidAutoCancelImage)
        else { return [] }
        return cancelled(older)
    }

    /// Cancels all loads of a group. Loads that share a message always belong to the same group.
    mutating func cancelledGroup(_ group: GroupID) -> Actions {
        let members = entries.values.filter { load in
            load.loadOptions.group == group && !load.isCancelled && load.leader == load.token
        }
        let unsent = members.filter { !$0.isSent }
        let sent = members.filter(\.isSent)
        for load in sent { load.isCancelled = true }
        var actions = Actions()
        for load in unsent { actions += endAll(load.token, .cancelledUnsent) }
        if !sent.isEmpty { actions.append(.send(.cancelGroup(group))) }
        return actions
    }

    /// Begins a session.
    mutating func welcomed(_ welcome: ClientWelcome, at now: Instant) -> Actions {
        isWelcome = true
        refusal = nil
        window = Int(welcome.window)
        sendFirst(postponed.removeAll())
        knowsChunks = welcome.chunkWindow > 0
        return sendQueued(at: now)
    }

    /// Ends the session. Loads already sent are queued again ahead of unsent ones.
    mutating func sessionEnded(at now: Instant) -> Actions {
        isWelcome = false
        let sent = entries.values.filter(\.isSent)
        let unserved = now.adding(milliseconds: connectTimeoutMilliseconds)
        for load in entries.values { load.unservedUntil = unserved }
        if !entries.isEmpty { expect(unserved) }
        var actions: Actions = []
        for load in sent where load.isCancelled {
            let error = ImageError(.cancelled, "cancelled; the connection was lost in the meantime")
            actions += endAll(load.token, error)
        }
        sentCount = 0
        // Keep the original order: it determines which load cancels which in a slot.
        let again = sent.filter { entries[$0.token] != nil }.sorted { $0.serial < $1.serial }
        for load in again { load.isSent = false }
        sendFirst(again)
        return actions
    }

    /// Reports the progress of a load.
    mutating func progressed(_ progress: RequestProgress) -> Actions {
        guard let load = entries[progress.token] else { return [] }
        guard let members = load.members else { return [.advance(progress)] }
        return Actions(
            members.lazy.map { member in
                var its = progress
                its.token = member
                return .advance(its)
            })
    }

    /// Handles the coordinator's reply to a load.
    mutating func replied(_ reply: Reply, at now: Instant) -> Actions {
        guard let entry = entries[reply.token], entry.isSent else { return [] }
        guard case .failure(let error) = reply.outcome else { return [.deliver(reply)] }
        if error.code == .shuttingDown, !entry.isCancelled {
            postpone(entry)
            return sendQueued(at: now)
        }
        return endAll(reply.token, error) + sendQueued(at: now)
    }

    /// Postpones a load refused because the coordinator is finishing its admitted requests before
    /// it is replaced. The load is sent to the next coordinator, if that arrives before the load's
    /// deadline and within the connect timeout, which starts when the session ends.
    private mutating func postpone(_ load: PendingLoad) {
        load.isSent = false
        sentCount -= 1
        load.queueNumber = postponed.append(load)
    }

    /// Ends a load whose bytes were taken, and sends the next one.
    mutating func delivered(_ token: Token, at now: Instant) -> Actions {
        removeAll(token)
        return sendQueued(at: now)
    }

    /// Handles a reply whose bytes were overwritten before they could be read. Sends the load
    /// again, at most three times, and then once more in chunks (PROTOCOL §10).
    mutating func foundStale(_ token: Token, at now: Instant) -> Actions {
        guard let entry = entries[token] else { return [] }
        guard entry.loadOptions.staleRetries < Self.staleRetriesMax else {
            let error = ImageError(.stale, "the result was evicted faster than it could be read")
            return foundUnreadable(token, error, at: now)
        }
        if entry.isCancelled { return endAll(token, .cancelledByCaller) + sendQueued(at: now) }
        entry.loadOptions.staleRetries += 1
        return sendAgain(entry, at: now)
    }

    /// Handles a "not modified" reply without a usable cached image, because its bytes were
    /// overwritten or it belonged to an earlier session. Sends the load again without contacting
    /// the origin.
    mutating func foundUnmodified(_ token: Token, at now: Instant) -> Actions {
        guard let entry = entries[token] else { return [] }
        if entry.isCancelled { return endAll(token, .cancelledByCaller) + sendQueued(at: now) }
        entry.image.options.remove(.refreshCached)
        return sendAgain(entry, at: now)
    }

    /// Handles a reply whose bytes cannot be read from shared memory: sends the load once more, in
    /// chunks.
    mutating func foundUnreadable(
        _ token: Token, _ error: ImageError, at now: Instant
    ) -> Actions {
        guard let entry = entries[token] else { return [] }
        if entry.isCancelled { return endAll(token, .cancelledByCaller) + sendQueued(at: now) }
        guard mayAskForChunks, knowsChunks, !entry.loadOptions.wantsChunks else {
            return endAll(token, error) + sendQueued(at: now)
        }
        entry.loadOptions.wantsChunks = true
        return sendAgain(entry, at: now)
    }

    /// Sends a load again. It must not cancel loads that have entered its slot since; later loads
    /// cancel it by its token.
    private mutating func sendAgain(_ load: PendingLoad, at now: Instant) -> Actions {
        load.loadOptions.namesSlot = false
        return [send(load, at: now)]
    }

    /// Ends a load on the client's side, for instance because of a gap in its chunks.
    mutating func abandoned(_ token: Token, _ error: ImageError, at now: Instant) -> Actions {
        guard let entry = entries[token] else { return [] }
        let cancel: Actions = entry.isSent && isWelcome ? [.send(.cancel(token))] : []
        return endAll(token, error) + cancel + sendQueued(at: now)
    }

    /// Handles a load that the coordinator refused to admit.
    mutating func refused(_ error: ImageError, _ token: Token?, at now: Instant) -> Actions {
        guard let token, entries[token] != nil else { return [] }
        return endAll(token, error) + sendQueued(at: now)
    }

    /// Handles a refused session. Everything that waits for a session ends, and loads submitted
    /// before the next session end with the same error when they time out.
    mutating func sessionRefused(_ error: ImageError) -> Actions {
        refusal = error
        return endEverything(error)
    }

    /// Ends overdue loads.
    mutating func expire(at now: Instant) -> Actions {
        guard let due = earliest, due <= now else { return [] }
        var actions: Actions = []
        for load in entries.values where entries[load.token] != nil && !load.hasLeft {
            if !isWelcome, load.unservedUntil <= now {
                actions += left(load, refusal ?? .nobodyServes)
            } else if now >= lastMoment(of: load) {
                actions += left(load, ImageError(.deadlineExceeded, "the deadline passed"))
            }
        }
        let pause = actions.isEmpty ? 0 : Self.expiryMilliseconds
        actions += sendQueued(at: now)
        let next = entries.values.compactMap { $0.hasLeft ? nil : self.due($0) }.min()
        earliest = next.map { max($0, now.adding(milliseconds: pause)) }
        return actions
    }

    /// The next time at which a load may be overdue.
    var nextDeadline: Instant? { entries.isEmpty ? nil : earliest }

    private func due(_ load: PendingLoad) -> Instant {
        let last = lastMoment(of: load)
        return isWelcome ? last : min(last, load.unservedUntil)
    }

    /// Returns when a load is overdue. A load that was sent gets a grace period, because the
    /// coordinator normally ends it by itself.
    private func lastMoment(of load: PendingLoad) -> Instant {
        let isSent = load.membership.map { entries[$0.leader]?.isSent == true } ?? load.isSent
        return load.deadline.adding(milliseconds: isSent ? Self.graceMilliseconds : 0)
    }

    private mutating func expect(_ due: Instant) { earliest = earliest.map { min($0, due) } ?? due }

    /// Ends everything because the client is closed.
    mutating func closed(with error: ImageError = .clientClosed) -> Actions {
        endEverything(error)
    }

    private mutating func endEverything(_ error: ImageError) -> Actions {
        let waiting = entries.values.filter { !$0.hasLeft }
        entries.removeAll()
        joinable = JoinableLoads()
        slots.removeAll()
        _ = queue.removeAll()
        _ = postponed.removeAll()
        sentCount = 0
        return waiting.map { .fail($0, error) }
    }

    private static let graceMilliseconds = 500
    /// The interval between two passes over all loads for overdue ones. Thousands of loads may each
    /// have a different deadline.
    private static let expiryMilliseconds = 10
    private static let staleRetriesMax: UInt8 = 3

    /// Whether the window allows another load.
    private var maySend: Bool { isWelcome && sentCount < window }

    /// Queues loads ahead of all others.
    private mutating func sendFirst(_ loads: [PendingLoad]) {
        guard !loads.isEmpty else { return }
        for load in loads + queue.removeAll() { load.queueNumber = queue.append(load) }
    }

    /// Sends a load after those queued before it.
    private mutating func sendInTurn(_ load: PendingLoad, at now: Instant) -> Actions {
        guard queue.isEmpty, maySend else {
            load.queueNumber = queue.append(load)
            return sendQueued(at: now)
        }
        sentCount += 1
        return [send(load, at: now)]
    }

    private mutating func sendQueued(at now: Instant) -> Actions {
        var actions = Actions()
        guard !queue.isEmpty, maySend else { return actions }
        while maySend, let load = queue.popFirst() {
            actions.append(send(load, at: now))
            sentCount += 1
        }
        return actions
    }

    private mutating func send(_ load: PendingLoad, at now: Instant) -> Action {
        load.isSent = true
        if load.isShareable { joinable.isLeaving(load) }
        load.millisecondsLeft = max(1, deadline(of: load).milliseconds(since: now))
        return .load(load)
    }

    /// The latest deadline among the loads that share the message (SEMANTICS §3.4).
    private func deadline(of load: PendingLoad) -> Instant {
        guard let members = load.members else { return load.deadline }
        return members.compactMap { entries[$0]?.deadline }.max() ?? load.deadline
    }

    mutating func end(_ token: Token, _ error: ImageError) -> Actions {
        remove(token).map { [.fail($0, error)] } ?? []
    }

    @discardableResult
    mutating func remove(_ token: Token) -> PendingLoad? {
        guard let load = entries.removeValue(forKey: token) else { return nil }
        if let slot = load.slot, slots[slot] == token { slots[slot] = nil }
        if load.isShareable { joinable.remove(load) }
        if load.isSent {
            sentCount -= 1
        } else {
            queue.remove(load.queueNumber) { $0 === load }
            postponed.remove(load.queueNumber) { $0 === load }
        }
        return load
    }
}

extension ImageError {
    static let nobodyServes = ImageError(
        .unavailable, advising: "no coordinator serves the endpoint; start imagebus serve")
    static let cancelledUnsent = ImageError(.cancelled, "cancelled before it was sent")
    fileprivate static let cancelledByCaller = ImageError(.cancelled, "cancelled")
}
