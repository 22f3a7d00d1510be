import Model

// Outcomes of work for requests, and their consequences.
extension Scheduler {
    mutating func collect(_ outcome: JobOutcome, from worker: WorkerID) {
        // A worker without space may wait for readers to release blocks, if there are any.
        let hasReaders = outcome.result.foundNoSpace && hits.hasReaders
        workGraph.collect(outcome, from: worker, hasReaders: hasReaders)
    }

    /// Processes completed jobs and workers that left, until the work graph reports no further
    /// events. Requests that can continue become pending transitions.
    mutating func conclude() {
        while workGraph.hasNews {
            handleEvents()
            _ = workGraph.goOn()
        }
    }

    /// Processes the pending worker actions and events after a call.
    mutating func handleEvents() {
        collectDispatches()
        while let event = workGraph.nextEvent() { follow(event) }
    }

    private mutating func follow(_ event: WorkGraphEvent) {
        switch event {
        case .found(let hit, let block, let timings, let ids):
            noteFound(block.block, by: ids)
            later(.found(hit, timings), ids, block: block)
        case .missed(let text, let tiers, let timings, let ids):
            later(.missed(tiers, timings), ids, missed: text)
        case .validity(let known, let timings, let ids): later(.validity(known, timings), ids)
        case .gathered(let ids): later(.onward, ids)
        case .ungathered(let id, let error):
            requests[id].standing = .moving
            pendingTransitions.append(.giveUp(id, error))
        case .produced(let product, let block, let ids):
            later(.produced(product), ids, block: block)
        case .kept(let product, let block, let id, let place): keep(id, product, block, at: place)
        case .moved(let id, let place): requests[id].standing = .waiting(place)
        case .stored(let stored): storesEnded(stored)
        case .lost(let ids): for id in ids { loseAnswer(id) }
        case .tried(let timings, let id): requests[id].timings += timings
        case .fetching(let timings, let ids):
            for id in ids { fetching(id, after: timings) }
        case .disposed(let teardownResult, let ids):
            later(.disposed(teardownResult), ids, missed: teardownResult.missedText)
        case .progressed(let transfer, let progress, let info, let ids):
            progressed(transfer, progress, info, ids)
        case .partial(let transfer, let image, let block, let bytes, let ids):
            offer(image, block, of: bytes, from: transfer, to: ids)
        case .failedSource(let source, let operation, let error, let admitted):
            recordFailure(operation, of: source, for: error, admitted)
        case .provenSource(let source, let operation, let admitted):
            admitAgain(operation, of: source, admitted)
        case .varies(let text, let fields):
            hits.withdraw(.varies(plainOriginal: text, fields))
        case .confirmed(let text, let mark, let confirmation):
            hits.withdraw(.confirmed(plainOriginal: text, mark, confirmation))
        case .overtaken(let text):
            pendingTransitions.overtake(text)
            hits.stored(text)
        case .noticed(let reference, let cache): hits.notice(reference, of: cache)
        case .cacheGone(let cache): hits.withdraw(.cacheGone(cache))
        case .answered(let job, let outcome): answerInquiry(job, outcome)
        }
    }

    /// Records the location of a found result. For a composite cache, memory can answer subsequent
    /// requests if all tiers were queried.
    private mutating func noteFound(_ block: BlockID, by ids: [LiveRequest.ID]) {
        guard !workGraph.layout.isEmpty, let id = ids.first, requests.contains(id),
            requests[id].plan.queryTiers == .all
        else { return }
        hits.found(requests[id].names.result, in: block)
    }

    /// Records that the original is being fetched for a request that waited for the cache.
    private mutating func fetching(_ id: LiveRequest.ID, after timings: StageTimings) {
        requests[id].timings += timings
        requests[id].missed.original = requests[id].plan.originalQueryTiers
        requests[id].remainingStages.skip(past: .fetch)
        if requests[id].attempt == 1 { metrics.counters.misses += 1 }
    }
}

extension JobResult {
    /// Whether a worker found no space for its output.
    fileprivate var foundNoSpace: Bool {
        if case .failed(let error) = self { return error.code == .arenaFull }
        return false
    }
}

// Actions of the dispatcher.
extension Scheduler {
    /// Appends the dispatcher's pending actions, in order, to those of the scheduler.
    mutating func collectDispatches() {
        workGraph.drainActions { actions.append(SchedulerAction($0)) }
    }
}

extension SchedulerAction {
    fileprivate init(_ action: DispatchAction) {
        switch action {
        case .assign(let worker, let job): self = .assign(worker, job)
        case .cancelJob(let worker, let job): self = .cancelJob(worker, job)
        case .adjust(let worker, let adjustment): self = .adjust(worker, adjustment)
        case .release(let worker, let blocks, let isPrompt):
            self = .release(worker, blocks, isPrompt: isPrompt)
        case .expel(let worker, let error): self = .expel(worker, error)
        }
    }
}
