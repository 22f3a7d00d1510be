import Derivation
import Dispatching
import ImageModel
import Messages
import Tables

// admit: is this a request that may be made now? (SEMANTICS §2.1)
extension Scheduler {
    /// A load that names a live token of the same client is the same request, resent: its reply is
    /// still to come.
    ///
    /// `upload` is held for as long as the request lives. A member of a `batch` has no token of its
    /// own, and nobody is told what becomes of it.
    mutating func admit(
        _ load: LoadRequest, of client: ClientID, _ terms: LoadTerms, upload: Upload? = nil,
        in batch: PrefetchBatch.ID? = nil
    ) {
        guard let owner = clients[client]?.incarnation else { return }
        if batch == nil { freeToken(load.token) }
        let live = batch == nil ? tokens[load.token] : nil
        if let live, attach(live, to: client, owner) { return }
        figures.counters.requests += 1
        // The slot of an upload was left when its load came; what is there now is newer.
        if upload == nil { supersede(by: load, of: client) }
        do throws(ImageError) {
            guard live == nil, batch != nil || prefetching.tokens[load.token] == nil else {
                throw ImageError(.tokenInUse, "another request has this token")
            }
            guard !drain.isBegun else { throw Self.shuttingDown }
            try load.image.checkWishes()
            try load.checkSlot()
            if let refusal = terms.firstRefusal { throw refusal }
            try checkBlacklist(load.image, terms)
            let names = try names(of: load.image, terms, upload)
            let plan = JobPlan(load, terms, names)
            if answerFromMemory(load, of: client, plan, names, in: batch) { return }
            try load.image.checkEncoding(atMost: limits.derivation.encodingCostMax)
            if batch == nil { try checkRoom(for: client) }
            let order = Order(
                load.image, terms, names, plan: plan, upload: upload,
                distrustsMemory: load.staleRetries > 0, trace: load.trace)
            enlist(load, of: client, owner, order, in: batch)
        } catch {
            if batch == nil, admitFallback(of: load, terms, from: client, owner, after: error) {
                return
            }
            figures.counters.ended(with: error)
            conclude(load, of: client, in: batch, .failure(error))
        }
    }

    /// A live request that was detached goes on for the next session of the same client.
    private mutating func attach(
        _ id: LiveRequest.ID, to client: ClientID, _ owner: Incarnation
    ) -> Bool {
        if requests[id].client == client { return true }
        guard clients[requests[id].client] == nil, requests[id].owner == owner else {
            return false
        }
        requests[id].client = client
        requests[id].share = clients[client]?.share ?? .session(client)
        takeSeat(id, isOlder: true)
        return true
    }

    /// What was loaded into its slot meanwhile stays there if the request `isOlder`.
    private mutating func takeSeat(_ id: LiveRequest.ID, isOlder: Bool) {
        let (client, group) = (requests[id].client, requests[id].group)
        if let slot = requests[id].slot { clients[client]?.take(slot, for: id, isOlder: isOlder) }
        if let seats = clients[client]?.join(id, group: group) {
            (requests[id].seat, requests[id].groupSeat) = seats
        }
    }

    /// A request that never became one ends at once.
    private mutating func conclude(
        _ load: LoadRequest, of client: ClientID, in batch: PrefetchBatch.ID?,
        _ outcome: Reply.Outcome
    ) {
        if let batch { return memberEnded(batch, load.image.url, outcome) }
        answerAtOnce(load, of: client, outcome)
    }

    /// The reply of a load that was never a live request.
    mutating func answerAtOnce(
        _ load: LoadRequest, of client: ClientID, _ outcome: Reply.Outcome
    ) {
        let reply = Reply(token: load.token, outcome: outcome)
        actions.append(.reply(client, reply))
        actions.append(.record(RequestRecord(load, reply)))
    }

    /// A hit in the index ends a request before it has cost anything.
    private mutating func answerFromMemory(
        _ load: LoadRequest, of client: ClientID, _ plan: JobPlan, _ names: RequestNames,
        in batch: PrefetchBatch.ID?
    ) -> Bool {
        guard let (entry, block) = takeHit(plan, names) else { return false }
        var delivered = entry.delivered(for: load.image, names)
        if batch == nil { lend(&delivered, block, to: client) }
        conclude(load, of: client, in: batch, .image(delivered))
        return true
    }

    func checkRoom(for client: ClientID) throws(ImageError) {
        guard requests.count < limits.liveRequestsMax else {
            throw ImageError.busy("too many requests wait for a reply")
        }
        guard clients[client].map({ $0.requests.count < limits.requestsPerClientMax }) == true
        else { throw ImageError.busy("too many requests of this client wait for a reply") }
    }

    @discardableResult
    mutating func enlist(
        _ load: LoadRequest, of client: ClientID, _ owner: Incarnation, _ order: Order,
        in batch: PrefetchBatch.ID? = nil
    ) -> LiveRequest.ID {
        let upload = order.upload
        if let upload { deriver.hold(upload.block) }
        let deadline = now.adding(milliseconds: load.image.timeoutMilliseconds)
        let id = requests.insert(
            LiveRequest(
                client: client, share: clients[client]?.share ?? .session(client), owner: owner,
                isDetached: batch == nil && load.goesOnAlone,
                token: load.token, group: load.group, slot: load.slot, batch: batch, order: order,
                wantsProgress: load.wantsProgress, admittedAt: now, deadline: deadline,
                priority: load.image.priority, ways: order.plan.ways))
        if let batch {
            joinBatch(id, batch)
        } else {
            tokens[load.token] = id
            takeSeat(id, isOlder: upload != nil)
        }
        setDeadline(id, deadline)
        agenda.moving.append(.onward(id))
        return id
    }

    static let shuttingDown = ImageError(.shuttingDown, "the stack is shutting down")
}

extension LoadRequest {
    /// Whether it goes on when its client is gone (SEMANTICS §8.5).
    fileprivate var goesOnAlone: Bool { detach || image.options.contains(.continueInBackground) }
}
