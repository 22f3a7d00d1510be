import Derivation
import Dispatching
import ImageModel
import Messages
import Tables

// plan: which way leads to the image? (SEMANTICS §2.2; the order is `JobPlan`'s)
extension Scheduler {
    /// Sends on all requests that have to go somewhere else.
    mutating func moveOn() {
        while let move = agenda.nextMove() {
            switch move {
            case .onward(let id) where mayGoOn(id): tryNextWay(id)
            case .again(let id) where mayGoOn(id): beginAgain(id)
            case .fallBack(let id, let error) where mayGoOn(id): fallBack(id, after: error)
            case .giveUp(let id, let error) where requests.contains(id): giveUp(id, error)
            case .onward, .again, .fallBack, .giveUp: continue
            }
        }
    }

    /// A request does not go on when its time has passed while it waited for its turn.
    private mutating func mayGoOn(_ id: LiveRequest.ID) -> Bool {
        guard requests.contains(id) else { return false }
        guard requests[id].deadline <= now else { return true }
        end(id, Self.deadlineExceeded)
        return false
    }

    private mutating func beginAgain(_ id: LiveRequest.ID) {
        guard requests[id].attempt < limits.dispatch.attemptsMax else {
            return reply(id, .failure(Dispatcher.workerLost))
        }
        figures.counters.requeued += 1
        requests[id].attempt += 1
        deriver.leaveOverlays(id)
        requests[id].beginAfresh()
        tryNextWay(id)
    }

    private mutating func tryNextWay(_ id: LiveRequest.ID) {
        let ways = requests[id].ways
        let way = requests[id].ways.next()
        if mustGather(id, before: way) {
            requests[id].ways = ways
            return gather(id)
        }
        switch way {
        case .queryResult: queryResult(id)
        case .queryOriginal: queryOriginal(id)
        case .fetch: fetch(id)
        case .decode, .transform, .storeOriginal, .deliver:
            preconditionFailure("only the first three stages are ways to an image")
        case nil: giveUp(id, nil)
        }
    }

    /// A request has no way left. Without an error that is a miss.
    private mutating func giveUp(_ id: LiveRequest.ID, _ error: ImageError?) {
        if let error { return reply(id, .failure(error)) }
        figures.counters.misses += 1
        reply(id, .miss(key: requests[id].names.resultKey))
    }

    /// Asks the cache for the result. It need not where the result is being made already, after the
    /// tiers of this request were asked.
    private mutating func queryResult(_ id: LiveRequest.ID) {
        let order = requests[id].order
        if joinUnderWay(id, .fetch, order.network) { return }
        if joinUnderWay(id, .queryOriginal, order.cachedOriginal) { return }
        wait(id) { deriver, waiter, urgency throws(ImageError) in
            try deriver.lookUp(waiter, urgency)
        }
    }

    private mutating func joinUnderWay(
        _ id: LiveRequest.ID, _ way: JobPlan.Stage, _ origin: ByteSource
    ) -> Bool {
        let plan = requests[id].plan
        guard plan.includes(way),
            deriver.isMaking(requests[id].order, of: origin, afterAsking: plan.queryTiers)
        else { return false }
        requests[id].ways.skip(past: way)
        join(id, origin)
        return true
    }

    /// Makes the result of the cached original, unless the bytes are here already, or are being
    /// fetched since the cache does not have them.
    private mutating func queryOriginal(_ id: LiveRequest.ID) {
        let order = requests[id].order
        if requests[id].mayFetch, deriver.isFetching(order) { return tryNextWay(id) }
        join(id, order.cachedOriginal)
    }

    private mutating func fetch(_ id: LiveRequest.ID) {
        let order = requests[id].order
        if let canvas = order.canvas { return join(id, .canvas(canvas)) }
        if asksOthers(id), askOthers(id) { return }
        if let cached = requests[id].refreshing { return join(id, order.refresh(of: cached.mark)) }
        if requests[id].attempt == 1 { figures.counters.misses += 1 }
        join(id, order.network)
    }

    /// Waits for the result that is made of such bytes.
    private mutating func join(_ id: LiveRequest.ID, _ origin: ByteSource) {
        let missed = requests[id].missed
        wait(id) { deriver, waiter, urgency throws(ImageError) in
            try deriver.join(waiter, of: origin, urgency, missed: missed)
        }
    }

    /// Waits where the deriver says, or fails with what is in the way.
    private mutating func wait(
        _ id: LiveRequest.ID,
        _ begin: (inout Deriver, Waiter, Urgency) throws(ImageError) -> Place
    ) {
        do throws(ImageError) {
            let request = requests[id]
            let place = try begin(&deriver, request.waiter(id), request.urgency)
            requests[id].standing = .waiting(place)
        } catch {
            reply(id, .failure(error))
        }
        takeEvents()
    }
}

// An overlay is admitted like any other load, and is there before work on the image begins
// (PROTOCOL §8.8).
extension Scheduler {
    /// Whether the request has to gather its overlays before it goes that way.
    func mustGather(_ id: LiveRequest.ID, before way: JobPlan.Stage?) -> Bool {
        guard way != nil, way != .queryResult, !requests[id].order.terms.overlays.isEmpty else {
            return false
        }
        return !deriver.hasGathered(id)
    }

    /// Loads all overlays of a request, which waits for them.
    mutating func gather(_ id: LiveRequest.ID) {
        do throws(ImageError) {
            var orders: [Order] = []
            for load in requests[id].order.terms.overlays {
                orders.append(try orderOverlay(load, over: id))
            }
            let place = deriver.gather(
                orders, for: id, requests[id].urgency,
                refreshing: requests[id].refreshing != nil)
            requests[id].standing = .waiting(place)
        } catch {
            deriver.leaveOverlays(id)
            reply(id, .failure(error))
        }
        takeEvents()
    }

    /// The load of an overlay as a request of its own; throws why the request cannot have it.
    private mutating func orderOverlay(
        _ load: Resolution, over id: LiveRequest.ID
    ) throws(ImageError) -> Order {
        do throws(ImageError) {
            try load.request.checkWishes()
            try checkBlacklist(load.request, load.terms, for: .still)
            return Order(
                load.request, load.terms, try names(of: load.request, load.terms),
                distrustsMemory: false, logContext: requests[id].order.logContext)
        } catch {
            throw ImageError.overlay(error, url: load.request.url)
        }
    }
}
