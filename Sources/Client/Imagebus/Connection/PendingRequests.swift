import ImageModel
import Messages

/// What the client has asked for and not been told the end of.
///
/// Pure: events in, actions out. Every request ends exactly once, whatever the connection does:
/// what has no terminal reply and was not cancelled is sent again under a new session
/// (PROTOCOL §5).
struct PendingRequests {
    /// What the connection is to do, in order.
    enum Action: Equatable {
        /// Send a load.
        case load(PendingLoad)
        /// Send it.
        indirect case send(ClientMessage)
        /// Tell the caller how far it is.
        indirect case advance(RequestProgress)
        /// Fetch the bytes of this reply, then tell the caller.
        indirect case deliver(Reply)
        /// Tell the caller that it failed.
        indirect case fail(PendingLoad, ImageError)
        /// What came in pieces under this token is wanted no more; its caller was told before.
        case forget(Token)
    }

    typealias Actions = ActionList<Action>

    private let sharesLoads: Bool
    private let connectTimeoutMilliseconds: Int
    private let mayAskForPieces: Bool
    var entries = LoadTable()
    /// Not sent yet, in order.
    private var queue = NumberedQueue<PendingLoad>()
    /// Refused by a coordinator that shuts down: for the next one.
    private var postponed = NumberedQueue<PendingLoad>()
    /// The newest request of each slot that has one.
    private var slots: [String: Token] = [:]
    private var lastSerial: UInt64 = 0
    var isWelcome = false
    /// Why there is no session, where the coordinator said so.
    private var refusal: ImageError?
    private var window = 0
    /// The coordinator of this session can send bytes in pieces.
    private var knowsPieces = false
    /// Places of the queues visited so far, of which a test knows the limit.
    var visitCount: Int { queue.visitCount + postponed.visitCount }
    /// How many are sent and have not ended.
    private(set) var sentCount = 0
    /// Who is one message with whom. Only those who lead are sent, and are in the queue.
    var shares = SharedLoads()
    /// When to look for overdue loads next: the next deadline, or a moment before or after it.
    private var earliest: Instant?

    /// `mayAskForPieces`: what cannot be read in shared memory is asked for in pieces.
    /// `sharesLoads`: those that ask for the same before it was sent are one message.
    init(
        connectTimeoutMilliseconds: Int, mayAskForPieces: Bool = true, sharesLoads: Bool = true
    ) {
        self.sharesLoads = sharesLoads
        self.connectTimeoutMilliseconds = connectTimeoutMilliseconds
        self.mayAskForPieces = mayAskForPieces
    }

    /// Whether nothing is pending.
    var isEmpty: Bool { entries.isEmpty }

    /// What is pending under a token.
    func load(of token: Token) -> PendingLoad? { entries[token] }

    /// The caller wants an image.
    mutating func submitted(_ load: PendingLoad, at now: Instant) -> Actions {
        guard entries[load.token] == nil else { return [] }
        load.isShareable = sharesLoads && load.mayBeShared
        if load.isShareable, let joined = join(load, at: now) { return joined }
        let superseded = supersede(by: load)
        enter(load, at: now)
        if load.isShareable { shares.open(load.hash, load.token) }
        if let slot = load.slot { slots[slot] = load.token }
        let sent = sendInTurn(load, at: now)
        return superseded.isEmpty ? sent : superseded + sent
    }

    mutating func enter(_ load: PendingLoad, at now: Instant) {
        lastSerial += 1
        load.serial = lastSerial
        load.deadline = now.adding(milliseconds: load.image.timeoutMilliseconds)
        load.unservedUntil = now.adding(milliseconds: connectTimeoutMilliseconds)
        entries.insert(load)
        expect(due(load))
    }

    /// The caller wants something else in a slot: the older request of it ends before. The
    /// coordinator is told at once, although it would find out with the new one: that may have to
    /// wait for the window.
    private mutating func supersede(by load: PendingLoad) -> Actions {
        guard let slot = load.slot, let older = slots[slot],
            !load.image.options.contains(.avoidAutoCancelImage)
        else { return [] }
        return cancelled(older)
    }

    /// The caller wants it more or less than before.
    mutating func reprioritised(_ token: Token, _ priority: Priority) -> Actions {
        guard let entry = entries[token], !shares.hasLeft(token) else { return [] }
        if let leader = shares.leader(of: token) {
            shares.set(priority, of: token)
            return settle(leader)
        }
        entries[token]?.image.priority = priority
        return entry.isSent ? [.send(.reprioritise(token, priority))] : []
    }

    /// The caller wants a whole group more or less than before.
    mutating func reprioritised(_ group: GroupID, _ priority: Priority) -> Actions {
        let members = entries.filter { $0.manner.group == group }
        for load in members {
            shares.set(priority, of: load.token)
            load.image.priority = priority
        }
        let isSent = members.contains { $0.isSent }
        return isSent ? [.send(.reprioritiseGroup(group, priority))] : []
    }

    /// The caller no longer wants it. What was not sent ends here, and so does what others share.
    mutating func cancelled(_ token: Token) -> Actions {
        guard let entry = entries[token], !entry.isCancelled, !shares.hasLeft(token) else {
            return []
        }
        guard let leader = shares.leader(of: token) else { return cancel(token) }
        guard entries[leader]?.isCancelled == false else { return [] }
        if shares.count(of: leader) == 1 { return cancel(leader) }
        return left(token, ImageError(.cancelled, "cancelled; others wait for the same"))
    }

    /// For all who share it.
    private mutating func cancel(_ token: Token) -> Actions {
        guard let entry = entries[token], entry.isSent else {
            return endAll(token, .cancelledUnsent)
        }
        entries[token]?.isCancelled = true
        return [.send(.cancel(token))]
    }

    /// The caller no longer wants a whole group. All who share something are of one group.
    mutating func cancelledGroup(_ group: GroupID) -> Actions {
        let members = entries.filter { load in
            load.manner.group == group && !load.isCancelled
                && shares.leader(of: load.token) ?? load.token == load.token
        }
        let unsent = members.filter { !$0.isSent }
        let sent = members.filter(\.isSent)
        for load in sent { load.isCancelled = true }
        var actions = Actions()
        for load in unsent { actions += endAll(load.token, .cancelledUnsent) }
        if !sent.isEmpty { actions.append(.send(.cancelGroup(group))) }
        return actions
    }

    /// A session has begun.
    mutating func welcomed(_ welcome: ClientWelcome, at now: Instant) -> Actions {
        isWelcome = true
        refusal = nil
        window = Int(welcome.window)
        sendFirst(postponed.removeAll())
        knowsPieces = welcome.pieceWindow > 0
        return sendQueued(at: now)
    }

    /// The session has ended. What was sent is queued again, before what was not.
    mutating func sessionEnded(at now: Instant) -> Actions {
        isWelcome = false
        let sent = entries.filter(\.isSent)
        let unserved = now.adding(milliseconds: connectTimeoutMilliseconds)
        for load in entries { load.unservedUntil = unserved }
        if !entries.isEmpty { expect(unserved) }
        var actions: Actions = []
        for load in sent where load.isCancelled {
            let error = ImageError(.cancelled, "cancelled; the connection ended meanwhile")
            actions += endAll(load.token, error)
        }
        sentCount = 0
        // In their order: who cancels whom in a slot depends on it.
        let again = sent.filter { entries[$0.token] != nil }.sorted { $0.serial < $1.serial }
        for load in again { load.isSent = false }
        sendFirst(again)
        return actions
    }

    /// How far a request is.
    mutating func progressed(_ progress: RequestProgress) -> Actions {
        guard let members = shares.members(of: progress.token) else {
            return entries[progress.token] == nil ? [] : [.advance(progress)]
        }
        return Actions(
            members.lazy.map { member in
                var its = progress
                its.token = member
                return .advance(its)
            })
    }

    /// A request has ended, as far as the coordinator is concerned.
    mutating func replied(_ reply: Reply, at now: Instant) -> Actions {
        guard let entry = entries[reply.token], entry.isSent else { return [] }
        guard case .failure(let error) = reply.outcome else { return [.deliver(reply)] }
        if error.code == .shuttingDown, !entry.isCancelled {
            postpone(entry)
            return sendQueued(at: now)
        }
        return endAll(reply.token, error) + sendQueued(at: now)
    }

    /// The coordinator finishes what it has admitted, and is replaced: the next one gets the load,
    /// if it comes before the deadline, and before the connect timeout, which begins with the end
    /// of the session.
    private mutating func postpone(_ load: PendingLoad) {
        load.isSent = false
        sentCount -= 1
        load.queueNumber = postponed.append(load)
    }

    /// The bytes of a reply were taken: the request has ended, and the next one may be sent.
    mutating func delivered(_ token: Token, at now: Instant) -> Actions {
        if let members = shares.members(of: token) {
            removeAll(token, members)
        } else {
            remove(token)
        }
        return sendQueued(at: now)
    }

    /// The bytes of a reply were reused before they could be taken: the same request again, at
    /// most three times, then once more in pieces (PROTOCOL §10).
    mutating func foundStale(_ token: Token, at now: Instant) -> Actions {
        guard let entry = entries[token] else { return [] }
        guard entry.manner.staleRetries < Self.staleRetriesMax else {
            let error = ImageError(.stale, "the result was evicted faster than it could be read")
            return foundUnreadable(token, error, at: now)
        }
        if entry.isCancelled { return endAll(token, .cancelledByCaller) + sendQueued(at: now) }
        entries[token]?.manner.staleRetries += 1
        return sendAgain(token, at: now)
    }

    /// Nothing changed, but the cached image did not arrive: its bytes were reused, or went to an
    /// earlier session. It is asked for without asking the origin again.
    mutating func foundUnmodified(_ token: Token, at now: Instant) -> Actions {
        guard let entry = entries[token] else { return [] }
        if entry.isCancelled { return endAll(token, .cancelledByCaller) + sendQueued(at: now) }
        entries[token]?.image.options.remove(.refreshCached)
        return sendAgain(token, at: now)
    }

    /// The bytes of a reply cannot be read in shared memory: the same request once more, in pieces.
    mutating func foundUnreadable(
        _ token: Token, _ error: ImageError, at now: Instant
    ) -> Actions {
        guard let entry = entries[token] else { return [] }
        if entry.isCancelled { return endAll(token, .cancelledByCaller) + sendQueued(at: now) }
        guard mayAskForPieces, knowsPieces, !entry.manner.wantsPieces else {
            return endAll(token, error) + sendQueued(at: now)
        }
        entries[token]?.manner.wantsPieces = true
        return sendAgain(token, at: now)
    }

    /// Sends what has ended there once more. It must not cancel what came into its slot since; what
    /// comes later cancels it by its token.
    private mutating func sendAgain(_ token: Token, at now: Instant) -> Actions {
        entries[token]?.manner.namesSlot = false
        return entries[token].map { Actions(send($0, at: now)) } ?? []
    }

    /// The client itself ends a request, such as one whose pieces have a gap.
    mutating func abandoned(_ token: Token, _ error: ImageError, at now: Instant) -> Actions {
        guard let entry = entries[token] else { return [] }
        let cancel: Actions = entry.isSent && isWelcome ? [.send(.cancel(token))] : []
        return endAll(token, error) + cancel + sendQueued(at: now)
    }

    /// The coordinator does not accept a request.
    mutating func refused(_ error: ImageError, _ token: Token?, at now: Instant) -> Actions {
        guard let token, entries[token] != nil else { return [] }
        return endAll(token, error) + sendQueued(at: now)
    }

    /// The coordinator has no place for a session: what waits for one ends, and what comes before
    /// there is one ends with the same error in its time.
    mutating func sessionRefused(_ error: ImageError) -> Actions {
        refusal = error
        return endEverything(error)
    }

    /// Ends what is overdue.
    mutating func expire(at now: Instant) -> Actions {
        guard let due = earliest, due <= now else { return [] }
        var actions: Actions = []
        for load in entries where entries[load.token] != nil && !shares.hasLeft(load.token) {
            if !isWelcome, load.unservedUntil <= now {
                actions += left(load.token, refusal ?? Self.nobodyServes)
            } else if now >= lastMoment(of: load) {
                actions += left(load.token, ImageError(.deadlineExceeded, "the deadline passed"))
            }
        }
        let pause = actions.isEmpty ? 0 : Self.expiryMilliseconds
        actions += sendQueued(at: now)
        let next = entries.compactMap { shares.hasLeft($0.token) ? nil : self.due($0) }.min()
        earliest = next.map { max($0, now.adding(milliseconds: pause)) }
        return actions
    }

    /// When something may be overdue next.
    var nextDeadline: Instant? { entries.isEmpty ? nil : earliest }

    private func due(_ load: PendingLoad) -> Instant {
        let last = lastMoment(of: load)
        return isWelcome ? last : min(last, load.unservedUntil)
    }

    /// A request that was sent has a moment more: the coordinator ends it by itself, if it can.
    private func lastMoment(of load: PendingLoad) -> Instant {
        let leader = shares.leader(of: load.token)
        let isSent = leader.flatMap { entries[$0]?.isSent } ?? load.isSent
        return load.deadline.adding(milliseconds: isSent ? Self.graceMilliseconds : 0)
    }

    private mutating func expect(_ due: Instant) { earliest = earliest.map { min($0, due) } ?? due }

    /// Ends everything: the client is closed.
    mutating func closed(with error: ImageError = .clientClosed) -> Actions {
        endEverything(error)
    }

    private mutating func endEverything(_ error: ImageError) -> Actions {
        let waiting = entries.filter { !shares.hasLeft($0.token) }
        entries.removeAll()
        shares = SharedLoads()
        slots.removeAll()
        _ = queue.removeAll()
        _ = postponed.removeAll()
        sentCount = 0
        return Actions(waiting.lazy.map { .fail($0, error) })
    }

    private static let nobodyServes = ImageError(
        .unavailable, "nobody serves the endpoint; start imagebus serve")
    private static let graceMilliseconds = 500
    /// From one look at all loads that ended some to the next one: thousands of them may each have
    /// a deadline of its own.
    private static let expiryMilliseconds = 10
    private static let staleRetriesMax: UInt8 = 3

    /// Whether the window has room.
    private var maySend: Bool { isWelcome && sentCount < window }

    /// Queues loads before all that wait.
    private mutating func sendFirst(_ loads: [PendingLoad]) {
        guard !loads.isEmpty else { return }
        for load in loads + queue.removeAll() { load.queueNumber = queue.append(load) }
    }

    /// Sends a load once those before it were sent.
    private mutating func sendInTurn(_ load: PendingLoad, at now: Instant) -> Actions {
        guard queue.isEmpty, maySend else {
            load.queueNumber = queue.append(load)
            return sendQueued(at: now)
        }
        sentCount += 1
        return Actions(send(load, at: now))
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
        if load.isShareable { shares.isLeaving(load.hash, load.token) }
        load.millisecondsLeft = max(1, deadline(of: load).milliseconds(since: now))
        return .load(load)
    }

    /// The longest among those who wait for it (SEMANTICS §3.4).
    private func deadline(of load: PendingLoad) -> Instant {
        guard let members = shares.members(of: load.token) else { return load.deadline }
        return members.compactMap { entries[$0]?.deadline }.max() ?? load.deadline
    }

    mutating func end(_ token: Token, _ error: ImageError) -> Actions {
        remove(token).map { [.fail($0, error)] } ?? []
    }

    /// Forgets a load, and returns it.
    @discardableResult
    mutating func remove(_ token: Token) -> PendingLoad? {
        guard let load = entries.remove(token) else { return nil }
        if let slot = load.slot, slots[slot] == token { slots[slot] = nil }
        if load.isShareable { shares.close(load.hash, token) }
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
    fileprivate static let cancelledUnsent = ImageError(
        .cancelled, "cancelled before it was sent")
    fileprivate static let cancelledByCaller = ImageError(.cancelled, "cancelled")
}

/// Actions, in the order in which they are to be done.
///
/// Most events have one or none: the first action lies in the list itself, and only more than one
/// take memory beside it.
struct ActionList<Action> {
    private var head: Action?
    /// Nothing where there is no head.
    private var tail: [Action] = []

    init() {}

    init(_ action: Action) { head = action }
}

extension ActionList: RandomAccessCollection, RangeReplaceableCollection {
    var startIndex: Int { 0 }
    var endIndex: Int { head == nil ? 0 : 1 + tail.count }

    subscript(place: Int) -> Action {
        guard place == 0, let head else { return tail[place - 1] }
        return head
    }

    mutating func append(_ action: Action) {
        if head == nil { head = action } else { tail.append(action) }
    }

    mutating func append(contentsOf actions: some Sequence<Action>) {
        for action in actions { append(action) }
    }

    mutating func replaceSubrange(
        _ range: Range<Int>, with actions: some Collection<Action>
    ) {
        var all = Array(self)
        all.replaceSubrange(range, with: actions)
        (head, tail) = (all.first, Array(all.dropFirst()))
    }
}

extension ActionList: ExpressibleByArrayLiteral {
    init(arrayLiteral actions: Action...) { append(contentsOf: actions) }
}

extension ActionList: Equatable where Action: Equatable {}
