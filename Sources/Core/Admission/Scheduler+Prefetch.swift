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
        guard clients.keys.contains(client), !prefetching.passesOver(request, of: client) else {
            return
        }
        do throws(ImageError) {
            let batch = try prefetching.batch(of: request, client)
            if batch == nil { try checkBeginning(request, terms) }
            try prefetching.checkRoom(for: request, in: batch, of: client, limits)
            prefetching.add(request, to: batch, of: client)
        } catch {
            refusePart(request, of: client, error)
        }
    }

    /// A fault of the template is a fault of every URL, and refused at once.
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

    private mutating func refusePart(
        _ request: PrefetchRequest, of client: ClientID, _ error: ImageError
    ) {
        if error.code == .busy { figures.counters.refusedBusy += 1 }
        endBatch(named: request.batch, of: client)
        if !request.isLast { prefetching.cut(request.batch, of: client) }
        actions.append(.refused(client, error, request.batch))
    }

    // MARK: - Members

    /// Begins URLs of clients that may begin some, in turn, and not too many in one event. URLs
    /// that memory has end at once, and a long list of them must not keep others waiting.
    mutating func beginPrefetches() {
        var left = limits.prefetchesBegunMax
        while left > 0, hasRoomToPrefetch, let (batch, url) = prefetching.next() {
            left -= 1
            beginMember(url, of: batch)
            moveOn()
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

    private mutating func beginMember(_ url: String, of id: PrefetchBatch.ID) {
        // No copy of the batch is kept here: otherwise its lists would be copied when they change.
        let client = prefetching.batches[id].client
        var resolution = lateResolution(prefetching.batches[id].image(of: url), .prefetched)
        resolution.request.priority = prefetching.batches[id].priority
        let load = LoadRequest(token: prefetching.batches[id].token, image: resolution.request)
        admit(load, of: client, resolution.terms, in: id)
    }

    /// Tells how far batches are, once in an event.
    mutating func tellPrefetches() {
        for (client, report) in prefetching.takeReports() {
            actions.append(.prefetched(client, report))
        }
    }

    // MARK: - Ends

    /// Ends a batch that is no longer wanted, and tells so.
    mutating func cancelBatch(_ id: PrefetchBatch.ID) {
        let batch = prefetching.batches[id]
        actions.append(.prefetched(batch.client, batch.report(isFinal: true)))
        endBatch(id)
        if !batch.isComplete { prefetching.cut(batch.token, of: batch.client) }
    }

    /// A part of a batch was refused before it came here.
    mutating func refusedPrefetch(_ token: Token, of client: ClientID) {
        guard clients.keys.contains(client) else { return }
        endBatch(named: token, of: client)
        prefetching.cut(token, of: client)
    }

    /// Ends a batch of that client, if there is one, without a word.
    private mutating func endBatch(named token: Token, of client: ClientID) {
        guard let id = prefetching.tokens[token], prefetching.batches[id].client == client else {
            return
        }
        endBatch(id)
    }

    /// The stack shuts down: what is left of a batch is for the next coordinator.
    mutating func refuseBatches() {
        for id in prefetching.batches.ids {
            let batch = prefetching.batches[id]
            endBatch(id)
            if !batch.isComplete { prefetching.cut(batch.token, of: batch.client) }
            actions.append(.refused(batch.client, Self.shuttingDown, batch.token))
        }
    }

    /// A client is gone: its batches end.
    mutating func endPrefetches(of client: ClientID) {
        for id in prefetching.clients[client]?.batches ?? [] { endBatch(id) }
        prefetching.clientLeft(client)
    }

    /// Members that run end. Work that no other request needs ends with them.
    private mutating func endBatch(_ id: PrefetchBatch.ID) {
        for member in prefetching.batches[id].members.members { forsake(member) }
        prefetching.close(id)
    }
}
