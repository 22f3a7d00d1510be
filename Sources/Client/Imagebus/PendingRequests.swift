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
        /// Send it.
        case send(ClientMessage)
        /// Tell the caller how far it is.
        case advance(RequestProgress)
        /// Fetch the bytes of this reply, then tell the caller.
        case deliver(Reply)
        /// Tell the caller that it failed.
        case fail(Token, ImageError)
    }

    private struct Entry {
        var request: LoadRequest
        var deadline: Instant
        var unservedUntil: Instant
        var isSent = false
        var isCancelled = false
        /// Grows with every request.
        let serial: UInt64
        let slot: String?
    }

    private let connectTimeoutMilliseconds: Int
    private let mayAskForPieces: Bool
    private var entries: [Token: Entry] = [:]
    /// Not sent yet, in order.
    private var queue: [Token] = []
    /// Refused by a coordinator that shuts down: for the next one.
    private var postponed: [Token] = []
    /// The newest request of each slot that has one.
    private var slots: [String: Token] = [:]
    private var lastSerial: UInt64 = 0
    private var isWelcome = false
    /// Why there is no session, where the coordinator said so.
    private var refusal: ImageError?
    private var window = 0
    /// The coordinator of this session can send bytes in pieces.
    private var knowsPieces = false
    /// How many are sent and have not ended.
    private(set) var sentCount = 0
    /// Nothing is overdue before: the next deadline, or a moment before it.
    private var earliest: Instant?

    /// `mayAskForPieces`: what cannot be read in shared memory is asked for in pieces.
    init(connectTimeoutMilliseconds: Int, mayAskForPieces: Bool = true) {
        self.connectTimeoutMilliseconds = connectTimeoutMilliseconds
        self.mayAskForPieces = mayAskForPieces
    }

    /// Whether nothing is pending.
    var isEmpty: Bool { entries.isEmpty }

    /// What is pending under a token.
    func request(of token: Token) -> LoadRequest? { entries[token]?.request }

    /// The caller wants an image.
    mutating func submitted(_ request: LoadRequest, at now: Instant) -> [Action] {
        guard entries[request.token] == nil else { return [] }
        let superseded = supersede(by: request)
        lastSerial += 1
        entries[request.token] = Entry(
            request: request,
            deadline: now.adding(milliseconds: request.image.timeoutMilliseconds),
            unservedUntil: now.adding(milliseconds: connectTimeoutMilliseconds),
            serial: lastSerial, slot: request.slot)
        if let slot = request.slot { slots[slot] = request.token }
        queue.append(request.token)
        if let entry = entries[request.token] { expect(due(entry)) }
        return superseded + sendQueued(at: now)
    }

    /// The caller wants something else in a slot: the older request of it ends before. The
    /// coordinator is told at once, although it would find out with the new one: that may have to
    /// wait for the window.
    private mutating func supersede(by request: LoadRequest) -> [Action] {
        guard let slot = request.slot, let older = slots[slot],
            !request.image.options.contains(.avoidAutoCancelImage)
        else { return [] }
        return cancelled(older)
    }

    /// The caller wants it more or less than before.
    mutating func reprioritised(_ token: Token, _ priority: Priority) -> [Action] {
        guard let entry = entries[token] else { return [] }
        entries[token]?.request.image.priority = priority
        return entry.isSent ? [.send(.reprioritise(token, priority))] : []
    }

    /// The caller wants a whole group more or less than before.
    mutating func reprioritised(_ group: GroupID, _ priority: Priority) -> [Action] {
        let members = entries.filter { $0.value.request.group == group }
        for token in members.keys { entries[token]?.request.image.priority = priority }
        let isSent = members.values.contains { $0.isSent }
        return isSent ? [.send(.reprioritiseGroup(group, priority))] : []
    }

    /// The caller no longer wants it. What was not sent ends here.
    mutating func cancelled(_ token: Token) -> [Action] {
        guard let entry = entries[token], !entry.isCancelled else { return [] }
        guard entry.isSent else { return [end(token, .cancelled, "cancelled before it was sent")] }
        entries[token]?.isCancelled = true
        return [.send(.cancel(token))]
    }

    /// The caller no longer wants a whole group.
    mutating func cancelledGroup(_ group: GroupID) -> [Action] {
        let members = entries.filter { $0.value.request.group == group && !$0.value.isCancelled }
        let unsent = members.filter { !$0.value.isSent }.map(\.key)
        let sent = members.filter { $0.value.isSent }.map(\.key)
        for token in sent { entries[token]?.isCancelled = true }
        return unsent.map { end($0, .cancelled, "cancelled before it was sent") }
            + (sent.isEmpty ? [] : [.send(.cancelGroup(group))])
    }

    /// A session has begun.
    mutating func welcomed(_ welcome: ClientWelcome, at now: Instant) -> [Action] {
        isWelcome = true
        refusal = nil
        window = Int(welcome.window)
        queue = exchange(&postponed, with: []) + queue
        knowsPieces = welcome.pieceWindow > 0
        return sendQueued(at: now)
    }

    /// The session has ended. What was sent is queued again, before what was not.
    mutating func sessionEnded(at now: Instant) -> [Action] {
        isWelcome = false
        sentCount = 0
        let sent = entries.filter { $0.value.isSent }.map(\.key)
        let unserved = now.adding(milliseconds: connectTimeoutMilliseconds)
        for token in entries.keys { entries[token]?.unservedUntil = unserved }
        if !entries.isEmpty { expect(unserved) }
        var actions: [Action] = []
        for token in sent where entries[token]?.isCancelled == true {
            actions.append(end(token, .cancelled, "cancelled; the connection ended meanwhile"))
        }
        // In their order: who cancels whom in a slot depends on it.
        let again = sent.compactMap { token in entries[token].map { (token, $0.serial) } }
            .sorted { $0.1 < $1.1 }.map(\.0)
        for token in again { entries[token]?.isSent = false }
        queue = again + queue
        return actions
    }

    /// How far a request is.
    mutating func progressed(_ progress: RequestProgress) -> [Action] {
        entries[progress.token] == nil ? [] : [.advance(progress)]
    }

    /// A request has ended, as far as the coordinator is concerned.
    mutating func replied(_ reply: Reply, at now: Instant) -> [Action] {
        guard let entry = entries[reply.token], entry.isSent else { return [] }
        guard case .failure(let error) = reply.outcome else { return [.deliver(reply)] }
        if error.code == .shuttingDown, !entry.isCancelled {
            postpone(reply.token)
            return sendQueued(at: now)
        }
        return [end(reply.token, error)] + sendQueued(at: now)
    }

    /// The coordinator finishes what it has admitted, and is replaced: the next one gets the load,
    /// if it comes before the deadline, and before the connect timeout, which begins with the end
    /// of the session.
    private mutating func postpone(_ token: Token) {
        entries[token]?.isSent = false
        sentCount -= 1
        postponed.append(token)
    }

    /// The bytes of a reply were taken: the request has ended, and the next one may be sent.
    mutating func delivered(_ token: Token, at now: Instant) -> [Action] {
        remove(token)
        return sendQueued(at: now)
    }

    /// The bytes of a reply were reused before they could be taken: the same request again, at
    /// most three times, then once more in pieces (PROTOCOL §10).
    mutating func foundStale(_ token: Token, at now: Instant) -> [Action] {
        guard let entry = entries[token] else { return [] }
        guard entry.request.staleRetries < Self.staleRetriesMax else {
            let error = ImageError(.stale, "the result was evicted faster than it could be read")
            return foundUnreadable(token, error, at: now)
        }
        if entry.isCancelled { return [end(token, .cancelled, "cancelled")] + sendQueued(at: now) }
        entries[token]?.request.staleRetries += 1
        return sendAgain(token, at: now)
    }

    /// Nothing changed, but the cached image did not arrive: its bytes were reused, or went to an
    /// earlier session. It is asked for without asking the origin again.
    mutating func foundUnmodified(_ token: Token, at now: Instant) -> [Action] {
        guard let entry = entries[token] else { return [] }
        if entry.isCancelled { return [end(token, .cancelled, "cancelled")] + sendQueued(at: now) }
        entries[token]?.request.image.options.remove(.refreshCached)
        return sendAgain(token, at: now)
    }

    /// The bytes of a reply cannot be read in shared memory: the same request once more, in pieces.
    mutating func foundUnreadable(
        _ token: Token, _ error: ImageError, at now: Instant
    ) -> [Action] {
        guard let entry = entries[token] else { return [] }
        if entry.isCancelled { return [end(token, .cancelled, "cancelled")] + sendQueued(at: now) }
        guard mayAskForPieces, knowsPieces, !entry.request.wantsPieces else {
            return [end(token, error)] + sendQueued(at: now)
        }
        entries[token]?.request.wantsPieces = true
        return sendAgain(token, at: now)
    }

    /// Sends what has ended there once more. It must not cancel what came into its slot since; what
    /// comes later cancels it by its token.
    private mutating func sendAgain(_ token: Token, at now: Instant) -> [Action] {
        entries[token]?.request.slot = nil
        return [send(token, at: now)].compactMap { $0 }
    }

    /// The client itself ends a request, such as one whose pieces have a gap.
    mutating func abandoned(_ token: Token, _ error: ImageError, at now: Instant) -> [Action] {
        guard let entry = entries[token] else { return [] }
        let cancel: [Action] = entry.isSent && isWelcome ? [.send(.cancel(token))] : []
        return [end(token, error)] + cancel + sendQueued(at: now)
    }

    /// The coordinator does not accept a request.
    mutating func refused(_ error: ImageError, _ token: Token?, at now: Instant) -> [Action] {
        guard let token, entries[token] != nil else { return [] }
        return [end(token, error)] + sendQueued(at: now)
    }

    /// The coordinator has no place for a session: what waits for one ends, and what comes before
    /// there is one ends with the same error in its time.
    mutating func sessionRefused(_ error: ImageError) -> [Action] {
        refusal = error
        return entries.keys.map { end($0, error) }
    }

    /// Ends what is overdue.
    mutating func expire(at now: Instant) -> [Action] {
        guard let due = earliest, due <= now else { return [] }
        var actions: [Action] = []
        for (token, entry) in entries {
            if !isWelcome, entry.unservedUntil <= now {
                actions.append(end(token, refusal ?? Self.nobodyServes))
            } else if now
                >= entry.deadline.adding(milliseconds: entry.isSent ? Self.graceMilliseconds : 0)
            {
                actions.append(end(token, .deadlineExceeded, "the deadline passed"))
                if entry.isSent, isWelcome { actions.append(.send(.cancel(token))) }
            }
        }
        actions += sendQueued(at: now)
        earliest = entries.values.map { self.due($0) }.min()
        return actions
    }

    /// When something may be overdue next.
    var nextDeadline: Instant? { entries.isEmpty ? nil : earliest }

    /// A request that was sent has a moment more: the coordinator ends it by itself, if it can.
    private func due(_ entry: Entry) -> Instant {
        let due = entry.deadline.adding(milliseconds: entry.isSent ? Self.graceMilliseconds : 0)
        return isWelcome ? due : min(due, entry.unservedUntil)
    }

    private mutating func expect(_ due: Instant) { earliest = earliest.map { min($0, due) } ?? due }

    /// Ends everything: the client is closed.
    mutating func closed(with error: ImageError = .clientClosed) -> [Action] {
        entries.keys.map { end($0, error) }
    }

    private static let nobodyServes = ImageError(
        .unavailable, "nobody serves the endpoint; start imagebus serve")
    private static let graceMilliseconds = 500
    private static let staleRetriesMax: UInt8 = 3

    private mutating func sendQueued(at now: Instant) -> [Action] {
        guard isWelcome else { return [] }
        var actions: [Action] = []
        var next = 0
        while next < queue.count, sentCount < window {
            if let action = send(queue[next], at: now) {
                actions.append(action)
                sentCount += 1
            }
            next += 1
        }
        queue.removeFirst(next)
        return actions
    }

    private mutating func send(_ token: Token, at now: Instant) -> Action? {
        guard var entry = entries[token] else { return nil }
        entry.isSent = true
        entries[token] = entry
        entry.request.image.timeoutMilliseconds = max(1, entry.deadline.milliseconds(since: now))
        return .send(.load(entry.request))
    }

    private mutating func end(_ token: Token, _ code: ErrorCode, _ message: String) -> Action {
        end(token, ImageError(code, message))
    }

    private mutating func end(_ token: Token, _ error: ImageError) -> Action {
        remove(token)
        return .fail(token, error)
    }

    private mutating func remove(_ token: Token) {
        guard let entry = entries.removeValue(forKey: token) else { return }
        if let slot = entry.slot, slots[slot] == token { slots[slot] = nil }
        if entry.isSent {
            sentCount -= 1
        } else {
            queue.removeAll { $0 == token }
            postponed.removeAll { $0 == token }
        }
    }
}
