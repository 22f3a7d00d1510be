import ImageModel
import Messages

// admit: is this a request that may be made now? (DESIGN §3, 1)
extension Scheduler {
    /// A load that names a live token of the same client is the same request, resent: its reply is
    /// still to come.
    ///
    /// `upload` is held for as long as the request lives.
    mutating func admit(
        _ load: LoadRequest, of client: ClientID, _ identity: String?, upload: Upload? = nil
    ) {
        guard let owner = clients[client]?.incarnation else { return }
        if let live = tokens[load.token] {
            if attach(live, to: client, owner) { return }
            counters.requests += 1
            let error = ImageError(.tokenInUse, "another client has a request with this token")
            return refuse(load, of: client, error)
        }
        counters.requests += 1
        do throws(ImageError) {
            guard !isDraining else {
                throw ImageError(.shuttingDown, "the stack is shutting down")
            }
            try load.image.checkWishes()
            guard load.slot == nil else { throw ImageError.notSupported("slot") }
            try checkBlacklist(load.image)
            let names = try names.names(
                of: load.image, identity: identity, isUpload: upload != nil, limits: limits.image)
            if answerFromMemory(load, of: client, names) { return }
            try checkRoom(for: client)
            enlist(load, of: client, owner, names, upload)
        } catch {
            refuse(load, of: client, error)
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
        takeSeat(id)
        return true
    }

    private mutating func takeSeat(_ id: LiveRequest.ID) {
        let (client, group) = (requests[id].client, requests[id].group)
        if let seats = clients[client]?.join(id, group: group) {
            (requests[id].seat, requests[id].groupSeat) = seats
        }
    }

    /// A request that never became one ends at once.
    private mutating func refuse(_ load: LoadRequest, of client: ClientID, _ error: ImageError) {
        counters.ended(with: error)
        answerAtOnce(load, of: client, .failure(error))
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
        _ load: LoadRequest, of client: ClientID, _ names: RequestNames
    ) -> Bool {
        guard load.mayComeFromMemory, let cache,
            let entry = hits.entry(for: names.result, at: now)
        else { return false }
        counters.memoryHits += 1
        touches.add(entry.reference.block, at: now)
        var delivered = entry.delivered(for: load.image, names)
        lend(&delivered, BlockHandle(worker: cache, block: entry.reference.block), to: client)
        answerAtOnce(load, of: client, .image(delivered))
        return true
    }

    private func checkRoom(for client: ClientID) throws(ImageError) {
        guard requests.count < limits.liveRequestsMax else {
            throw ImageError.busy("too many requests wait for a reply")
        }
        guard clients[client].map({ $0.requests.count < limits.requestsPerClientMax }) == true
        else { throw ImageError.busy("too many requests of this client wait for a reply") }
    }

    private mutating func enlist(
        _ load: LoadRequest, of client: ClientID, _ owner: Incarnation, _ names: RequestNames,
        _ upload: Upload?
    ) {
        if let upload { ledger.hold(upload.block) }
        let order = Order(
            load.image, names, upload: upload, distrustsMemory: load.staleRetries > 0,
            trace: load.trace)
        let deadline = now.adding(milliseconds: load.image.timeoutMilliseconds)
        let id = requests.insert(
            LiveRequest(
                client: client, owner: owner, isDetached: load.detach, token: load.token,
                group: load.group, order: order,
                wantsProgress: load.wantsProgress, admittedAt: now, deadline: deadline,
                priority: load.image.priority, ways: order.plan.ways))
        tokens[load.token] = id
        takeSeat(id)
        setAlarm(.request(id), at: deadline)
        moving.append(.onward(id))
    }
}
