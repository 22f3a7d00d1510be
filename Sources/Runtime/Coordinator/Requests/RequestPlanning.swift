import Model

// Planning: moves requests through their stages (SEMANTICS §2.2; `LoadPlan` defines the order).
extension Scheduler {
    /// Performs all pending transitions of requests: to the next stage, to a new start, to their
    /// fallback or to an error.
    func moveOn() {
        while let move = pendingTransitions.moving.popFirst() {
            switch move {
            case .onward(let id) where mayGoOn(id): tryNextStage(id)
            case .again(let id) where mayGoOn(id): beginAgain(id)
            case .fallBack(let id, let error) where mayGoOn(id): fallBack(id, after: error)
            case .giveUp(let id, let error) where requests.contains(id): giveUp(id, error)
            case .onward, .again, .fallBack, .giveUp: continue
            }
        }
    }

    /// Whether the request continues; it ends if its deadline has passed while it waited for its
    /// turn.
    private func mayGoOn(_ id: LiveRequest.ID) -> Bool {
        guard requests.contains(id) else { return false }
        guard requests[id].deadline <= now else { return true }
        end(id, Self.deadlineExceeded)
        return false
    }

    private func beginAgain(_ id: LiveRequest.ID) {
        guard requests[id].attempt < limits.dispatch.attemptsMax else {
            return reply(id, .failure(Dispatcher.workerLost))
        }
        shared.counters.requeued += 1
        requests[id].attempt += 1
        workGraph.leaveOverlays(id)
        requests[id].beginAfresh()
        tryNextStage(id)
    }

    private func tryNextStage(_ id: LiveRequest.ID) {
        let remainingStages = requests[id].remainingStages
        let way = requests[id].remainingStages.next()
        if mustGather(id, before: way) {
            requests[id].remainingStages = remainingStages
            return gather(id)
        }
        switch way {
        case .queryResult: queryResult(id)
        case .queryOriginal: queryOriginal(id)
        case .fetch: fetch(id)
        case .decode, .transform, .storeOriginal, .deliver:
            preconditionFailure("only the first three stages are sources of an image")
        case nil: giveUp(id, nil)
        }
    }

    /// Ends a request without remaining stages. Without an error, the outcome is a miss.
    private func giveUp(_ id: LiveRequest.ID, _ error: ImageError?) {
        if let error { return reply(id, .failure(error)) }
        shared.counters.misses += 1
        reply(id, .miss(key: requests[id].names.shownResultKey))
    }

    /// Queries the cache for the result, unless the result is already in production after a query
    /// of the same tiers.
    private func queryResult(_ id: LiveRequest.ID) {
        let admitted = requests[id].admitted
        if joinUnderWay(id, .fetch, admitted.network) { return }
        if joinUnderWay(id, .queryOriginal, admitted.cachedOriginal) { return }
        wait(id) { subscriber, urgency throws(ImageError) in
            try workGraph.lookUp(subscriber, urgency)
        }
    }

    private func joinUnderWay(
        _ id: LiveRequest.ID, _ way: LoadPlan.Stage, _ origin: ByteSource
    ) -> Bool {
        let plan = requests[id].plan
        guard plan.includes(way),
            workGraph.isMaking(requests[id].admitted, of: origin, afterAsking: plan.queryTiers)
        else { return false }
        requests[id].remainingStages.skip(past: way)
        join(id, origin)
        return true
    }

    /// Makes the result from the cached original, unless the bytes are already available or are
    /// being fetched because the cache doesn't have them.
    private func queryOriginal(_ id: LiveRequest.ID) {
        let admitted = requests[id].admitted
        if requests[id].mayFetch, workGraph.isFetching(admitted) { return tryNextStage(id) }
        join(id, admitted.cachedOriginal)
    }

    private func fetch(_ id: LiveRequest.ID) {
        let admitted = requests[id].admitted
        if let canvas = admitted.canvas { return join(id, .canvas(canvas)) }
        if asksExternalCaches(id), askExternalCaches(id) { return }
        if let cached = requests[id].refreshing {
            return join(id, admitted.refresh(of: cached.mark))
        }
        if requests[id].attempt == 1 { shared.counters.misses += 1 }
        join(id, admitted.network)
    }

    /// Waits for the result made from these bytes.
    private func join(_ id: LiveRequest.ID, _ origin: ByteSource) {
        wait(id) { subscriber, urgency throws(ImageError) in
            try workGraph.join(subscriber, of: origin, urgency)
        }
    }

    /// Waits as determined by the work graph, or fails with its error.
    private func wait(
        _ id: LiveRequest.ID,
        _ begin: (Subscriber, Urgency) throws(ImageError) -> Place
    ) {
        do throws(ImageError) {
            let place = try begin(requests[id].subscriber(id), requests[id].urgency)
            requests[id].place = place
        } catch {
            reply(id, .failure(error))
        }
        handleEvents()
    }
}

// Overlays are admitted like any other load and must be available before work on the image begins
// (PROTOCOL §8.8).
extension Scheduler {
    /// Whether the request must gather its overlays before entering the stage.
    func mustGather(_ id: LiveRequest.ID, before way: LoadPlan.Stage?) -> Bool {
        guard way != nil, way != .queryResult, !requests[id].admitted.terms.overlays.isEmpty else {
            return false
        }
        return !workGraph.hasGathered(id)
    }

    /// Loads all overlays of a request, which waits for them.
    func gather(_ id: LiveRequest.ID) {
        do throws(ImageError) {
            var overlays: [AdmittedRequest] = []
            for load in requests[id].admitted.terms.overlays {
                overlays.append(try admitOverlayRequest(load, over: id))
            }
            let place = workGraph.gather(
                overlays, for: id, requests[id].urgency,
                refreshing: requests[id].refreshing != nil)
            requests[id].place = place
        } catch {
            workGraph.leaveOverlays(id)
            reply(id, .failure(error))
        }
        handleEvents()
    }

    /// Returns the admitted load of an overlay. Throws if the request may not use it.
    private func admitOverlayRequest(
        _ load: Resolution, over id: LiveRequest.ID
    ) throws(ImageError) -> AdmittedRequest {
        do throws(ImageError) {
            try load.request.checkLoadOptions()
            try checkFailureCache(load.request, load.terms, for: .still)
            return AdmittedRequest(
                load.request, load.terms, try names(of: load.request, load.terms),
                distrustsMemory: false, logContext: requests[id].admitted.logContext)
        } catch {
            throw ImageError.overlay(error, url: load.request.url)
        }
    }
}
