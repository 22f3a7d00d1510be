import Model

// Outcomes of work for requests, and their consequences.
extension Scheduler {
    func collect(_ outcome: JobOutcome, from worker: WorkerID) {
        // A worker without space may wait for readers to release blocks, if there are any.
        var hasReaders = false
        if case .failed(let error) = outcome.result, error.code == .arenaFull {
            hasReaders = hits.blocks.hasReaders
        }
        dispatcher.collect(outcome, from: worker, hasReaders: hasReaders)
    }

    /// Processes completed jobs and workers that left, until the work graph reports no further
    /// events. Requests that can continue become pending transitions.
    func conclude() {
        repeat { handleEvents() } while workGraph.goOn()
    }

    /// Processes the pending events after a call.
    func handleEvents() {
        while let event = workGraph.nextEvent() { follow(event) }
    }

    private func follow(_ event: WorkGraphEvent) {
        switch event {
        case .ended(let outcome, let block, let ids):
            if case .found = outcome, let block { noteFound(block.block, by: ids) }
            later(.outcome(outcome), ids, block: block)
        case .ungathered(let id, let error):
            requests[id].place = nil
            pendingTransitions.moving.append(.giveUp(id, error))
        case .kept(let product, let block, let id, let place): keep(id, product, block, at: place)
        case .moved(let id, let place): requests[id].place = place
        case .stored(let stored):
            for one in stored { requests[one.id].pending?.image.storedTiers = one.tiers }
            later(.pending, stored.map(\.id))
        case .lost(let ids): for id in ids { loseAnswer(id) }
        case .tried(let timings, let id): requests[id].timings += timings
        case .fetching(let timings, let ids):
            for id in ids { fetching(id, after: timings) }
        case .progressed(let transfer, let progress, let info, let ids):
            progressed(transfer, progress, info, ids)
        case .partial(let transfer, let image, let block, let bytes, let ids):
            offer(image, block, of: bytes, from: transfer, to: ids)
        case .failedSource(let source, let operation, let error, let admitted):
            recordFailure(operation, of: source, for: error, admitted)
        case .provenSource(let source, let operation, let admitted):
            admitAgain(operation, of: source, admitted)
        case .overtaken(let text):
            pendingTransitions.overtake(text)
            hits.stored(text)
        case .noticed(let reference, let cache): hits.blocks.notice(reference, of: cache)
        case .withdrawn(let reason): hits.withdraw(reason)
        case .answered(let job, let outcome): answerInquiry(job, outcome)
        }
    }

    /// Records the location of a found result. For a composite cache, memory can answer subsequent
    /// requests if all tiers were queried.
    private func noteFound(_ block: BlockID, by ids: [LiveRequest.ID]) {
        guard !workGraph.layout.isEmpty, let id = ids.first, requests.contains(id),
            requests[id].plan.queryTiers == .all
        else { return }
        hits.found(requests[id].names.result, in: block)
    }

    /// Records that the original is being fetched for a request that waited for the cache.
    private func fetching(_ id: LiveRequest.ID, after timings: StageTimings) {
        requests[id].timings += timings
        requests[id].missed.original = requests[id].plan.originalQueryTiers
        requests[id].remainingStages.skip(past: .fetch)
        if requests[id].attempt == 1 { shared.counters.misses += 1 }
    }
}
