import Derivation
import Dispatching
import ImageModel
import Messages
import Tables

// Images that will be wanted: batches from their first part to the final report
// (SEMANTICS §12.1).
extension Scheduler {
    /// A batch, or a further part of one. What is refused ends the whole batch.
    mutating func prefetch(
        _ request: PrefetchRequest, of client: ClientID, _ terms: LoadTerms
    ) {
        guard clients.keys.contains(client) else { return }
        if prefetching.clients[client]?.passesOver(request) == true {
            return forgetPrefetcher(client)
        }
        do throws(ImageError) {
            let batch = try batch(of: request, client, terms)
            try checkRoom(for: request, in: batch, of: client)
            let id = batch ?? openBatch(request, of: client)
            prefetching.batches[id].add(request.urls, isLast: request.isLast)
            prefetching.clients[client]?.waiting += request.urls.count
            prefetching.clients[client]?.waitingBytes += request.urlBytes
            wake(client)
            if prefetching.batches[id].hasEnded { owe(id) }
        } catch {
            refuse(request, of: client, error)
        }
    }

    /// The live batch that the part belongs to; `nil` for a first part, which may begin.
    private mutating func batch(
        of request: PrefetchRequest, _ client: ClientID, _ terms: LoadTerms
    ) throws(ImageError) -> PrefetchBatch.ID? {
        guard let id = prefetching.tokens[request.batch] else {
            try checkBeginning(request, terms)
            return nil
        }
        guard prefetching.batches[id].client == client else {
            throw ImageError(.tokenInUse, "another client has a batch with this token")
        }
        guard !prefetching.batches[id].isComplete else {
            throw ImageError(.invalidRequest, "the last part of this batch has come before")
        }
        return id
    }

    /// What is wrong with the template is wrong with every URL, and said at once.
    private mutating func checkBeginning(
        _ request: PrefetchRequest, _ terms: LoadTerms
    ) throws(ImageError) {
        guard !drain.isBegun else { throw Self.shuttingDown }
        freeToken(request.batch)
        guard tokens[request.batch] == nil else {
            throw ImageError(.tokenInUse, "a request has this token")
        }
        guard request.concurrency <= RequestLimits.prefetchConcurrencyMax else {
            throw ImageError(
                .invalidRequest,
                "at most \(RequestLimits.prefetchConcurrencyMax) URLs are loaded at a time")
        }
        if let refusal = terms.refusal { throw refusal }
        try request.image.checkWishes()
        var image = request.image
        image.url = "http://host/"
        _ = try RequestNames(
            checking: image, terms, isUpload: false, limits: limits.derivation.image)
    }

    private func checkRoom(
        for request: PrefetchRequest, in batch: PrefetchBatch.ID?, of client: ClientID
    ) throws(ImageError) {
        let total = (batch.map { prefetching.batches[$0].total } ?? 0) + request.urls.count
        guard total <= RequestLimits.prefetchMax else {
            throw ImageError(
                .limitExceeded, "a prefetch has at most \(RequestLimits.prefetchMax) URLs",
                details: ["limit": "\(RequestLimits.prefetchMax)"])
        }
        let prefetcher = prefetching.clients[client] ?? Prefetcher()
        guard batch != nil || prefetcher.batches.count < limits.batchesPerClientMax else {
            throw .busy("too many prefetches of this client have not ended")
        }
        guard prefetcher.waiting + request.urls.count <= limits.prefetchesPerClientMax,
            prefetcher.waitingBytes + request.urlBytes <= limits.prefetchBytesPerClientMax
        else { throw .busy("too many URLs of this client wait to be prefetched") }
        let bytes = prefetching.clients.values.reduce(0) { $0 + $1.waitingBytes }
        guard bytes + request.urlBytes <= limits.prefetchBytesMax else {
            throw .busy("too many URLs of all clients wait to be prefetched")
        }
    }

    private mutating func openBatch(
        _ request: PrefetchRequest, of client: ClientID
    ) -> PrefetchBatch.ID {
        let id = prefetching.batches.insert(PrefetchBatch(request, of: client))
        prefetching.tokens[request.batch] = id
        prefetching.clients[client, default: Prefetcher()].join(id)
        return id
    }

    private mutating func refuse(
        _ request: PrefetchRequest, of client: ClientID, _ error: ImageError
    ) {
        if error.code == .busy { figures.counters.refusedBusy += 1 }
        endPrefetch(request.batch, of: client)
        if !request.isLast { prefetching.clients[client, default: Prefetcher()].cut(request.batch) }
        actions.append(.refused(client, error, request.batch))
    }

    // MARK: - Members

    /// Begins URLs of those clients that may, in turn, and not too many in one event: what is in
    /// memory ends at once, and a long list of that must not keep others waiting.
    mutating func beginPrefetches() {
        var left = limits.prefetchesBegunMax
        while left > 0, hasRoomToPrefetch, let client = prefetching.awake.popFirst() {
            if beginNext(of: client) {
                left -= 1
                prefetching.awake.append(client)
                moveOn()
            } else {
                prefetching.clients[client]?.isAwake = false
            }
        }
    }

    /// Whether URLs could be begun now that were not begun in the last event.
    var wantsToPrefetch: Bool { prefetching.awake.count > 0 && hasRoomToPrefetch }

    /// Prefetches wait where a load would be refused.
    private var hasRoomToPrefetch: Bool {
        requests.count < limits.liveRequestsMax && deriver.dispatcher.hasRoom(.cache)
            && deriver.dispatcher.hasRoom(.download)
            && JobStage.allCases.allSatisfy {
                !deriver.dispatcher.isFull($0)
            }
    }

    private mutating func beginNext(of client: ClientID) -> Bool {
        guard let prefetcher = prefetching.clients[client],
            let most = prefetcher.batches.map({ prefetching.batches[$0].concurrency }).max(),
            prefetcher.running < most,
            let id = prefetcher.batches.first(where: { prefetching.batches[$0].mayBegin }),
            let url = prefetching.batches[id].next()
        else { return false }
        prefetching.clients[client]?.rotate(id)
        prefetching.clients[client]?.waiting -= 1
        prefetching.clients[client]?.waitingBytes -= PrefetchBatch.bytes(of: url)
        var resolution = lateResolution(prefetching.batches[id].image(of: url), .prefetched)
        resolution.request.priority = prefetching.batches[id].priority
        let load = LoadRequest(token: prefetching.batches[id].token, image: resolution.request)
        admit(load, of: client, resolution.terms, in: id)
        return true
    }

    private mutating func wake(_ client: ClientID) {
        guard prefetching.clients[client]?.isAwake == false else { return }
        prefetching.clients[client]?.isAwake = true
        prefetching.awake.append(client)
    }

    /// A member is live from now on.
    mutating func joinBatch(_ id: LiveRequest.ID, _ batch: PrefetchBatch.ID) {
        requests[id].seat = prefetching.batches[batch].members.join(id)
        prefetching.clients[prefetching.batches[batch].client]?.running += 1
    }

    /// A member is live no longer.
    mutating func leaveBatch(_ batch: PrefetchBatch.ID, seat: SeatList<LiveRequest.ID>.Seat) {
        prefetching.batches[batch].members.leave(seat)
        let client = prefetching.batches[batch].client
        prefetching.clients[client]?.running -= 1
        wake(client)
    }

    /// A URL has ended, however: that is counted, and nothing is delivered. Nobody having it is no
    /// error.
    mutating func memberEnded(
        _ batch: PrefetchBatch.ID, _ url: String, _ outcome: Reply.Outcome
    ) {
        figures.counters.prefetched += 1
        if case .failure(let error) = outcome {
            prefetching.batches[batch].failed(url, error)
        } else {
            prefetching.batches[batch].ended()
        }
        owe(batch)
    }

    // MARK: - Reports

    private mutating func owe(_ batch: PrefetchBatch.ID) {
        guard !prefetching.batches[batch].owesReport else { return }
        prefetching.batches[batch].owesReport = true
        prefetching.owing.append(batch)
    }

    /// Tells how far batches are, once in an event; a batch that has ended is over.
    mutating func tellPrefetches() {
        guard !prefetching.owing.isEmpty else { return }
        for id in prefetching.owing where prefetching.batches.contains(id) {
            prefetching.batches[id].owesReport = false
            let isFinal = prefetching.batches[id].hasEnded
            actions.append(
                .prefetched(
                    prefetching.batches[id].client, prefetching.batches[id].report(isFinal: isFinal)
                ))
            if isFinal { close(id) }
        }
        prefetching.owing.removeAll(keepingCapacity: true)
    }

    // MARK: - Ends

    /// Ends a batch that is no longer wanted, and tells so.
    mutating func cancelBatch(_ id: PrefetchBatch.ID) {
        let batch = prefetching.batches[id]
        actions.append(.prefetched(batch.client, batch.report(isFinal: true)))
        drop(id)
        if !batch.isComplete {
            prefetching.clients[batch.client, default: Prefetcher()].cut(batch.token)
        }
    }

    /// A part of a batch was refused before it came here.
    mutating func refusedPrefetch(_ token: Token, of client: ClientID) {
        guard clients.keys.contains(client) else { return }
        endPrefetch(token, of: client)
        prefetching.clients[client, default: Prefetcher()].cut(token)
    }

    /// Ends a batch of that client, if there is one, without a word.
    private mutating func endPrefetch(_ token: Token, of client: ClientID) {
        if let id = prefetching.tokens[token], prefetching.batches[id].client == client { drop(id) }
    }

    /// The stack shuts down: what is left of a batch is for the next coordinator.
    mutating func refuseBatches() {
        for id in prefetching.batches.ids {
            let batch = prefetching.batches[id]
            drop(id)
            if !batch.isComplete {
                prefetching.clients[batch.client, default: Prefetcher()].cut(batch.token)
            }
            actions.append(.refused(batch.client, Self.shuttingDown, batch.token))
        }
    }

    /// A client is gone, and with it what it would have wanted.
    mutating func dropPrefetches(of client: ClientID) {
        for id in prefetching.clients[client]?.batches ?? [] { drop(id) }
        prefetching.clients[client] = nil
        prefetching.awake.keep { $0 != client }
    }

    /// Members that run end; work that is for nobody else ends with them.
    private mutating func drop(_ id: PrefetchBatch.ID) {
        for member in prefetching.batches[id].members.members {
            withdraw(member)
            strike(member)
            figures.counters.cancelled += 1
        }
        close(id)
    }

    private mutating func close(_ id: PrefetchBatch.ID) {
        guard let batch = prefetching.batches.remove(id) else { return }
        prefetching.tokens[batch.token] = nil
        prefetching.clients[batch.client]?.leave(id)
        prefetching.clients[batch.client]?.waiting -= batch.waiting.count
        prefetching.clients[batch.client]?.waitingBytes -= batch.waitingBytes
        forgetPrefetcher(batch.client)
    }

    private mutating func forgetPrefetcher(_ client: ClientID) {
        guard prefetching.clients[client]?.isEmpty == true else { return }
        prefetching.clients[client] = nil
        prefetching.awake.keep { $0 != client }
    }
}

extension PrefetchRequest {
    fileprivate var urlBytes: Int { urls.reduce(0) { $0 + PrefetchBatch.bytes(of: $1) } }
}
