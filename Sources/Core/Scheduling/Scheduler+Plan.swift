import Dispatching
import ImageModel
import Messages
import Tables

/// Where a request goes next.
enum Move: Sendable {
    /// The next of the ways that are left.
    case onward(LiveRequest.ID)
    /// All ways again: what was made for it is lost.
    case again(LiveRequest.ID)
}

// plan: which way leads to the image? (SEMANTICS §2.2; the order is `JobPlan`'s)
extension Scheduler {
    /// Sends everybody on who has to go somewhere else.
    mutating func moveOn() {
        while let move = moving.popFirst() {
            switch move {
            case .onward(let id) where mayGoOn(id): tryNextWay(id)
            case .again(let id) where mayGoOn(id): beginAgain(id)
            case .onward, .again: continue
            }
        }
    }

    /// Nobody goes on whose time has passed while it waited for its turn.
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
        counters.requeued += 1
        requests[id].attempt += 1
        leaveOverlays(id)
        requests[id].beginAfresh()
        tryNextWay(id)
    }

    /// With no way left nobody has it: that is no error (SEMANTICS §2.5).
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
        case nil:
            counters.misses += 1
            reply(id, .miss(key: requests[id].names.resultKey))
        }
    }

    /// Asks the cache for the result, unless it is being made, after those tiers were asked for it
    /// that this request wants to ask.
    private mutating func queryResult(_ id: LiveRequest.ID) {
        if joinUnderWay(id, .fetch) || joinUnderWay(id, .queryOriginal) { return }
        lookUp(id)
    }

    private mutating func joinUnderWay(_ id: LiveRequest.ID, _ way: JobPlan.Stage) -> Bool {
        guard requests[id].plan.includes(way) else { return false }
        let name = resultName(
            id, way == .fetch ? requests[id].order.network : .cache(originalQuery(id)))
        guard let node = resultTable[name],
            requests[id].plan.queryTiers.isSubset(of: results[node].knownMissing)
        else { return false }
        requests[id].ways.skip(past: way)
        join(id, name)
        return true
    }

    /// Makes the result of the cached original, unless the bytes are here already, or are being
    /// fetched since the cache does not have them.
    private mutating func queryOriginal(_ id: LiveRequest.ID) {
        let fetched = Sourced(
            key: requests[id].order.key.decode.source, origin: requests[id].order.network)
        if requests[id].mayFetch, let node = source(fetched) {
            let tiers = requests[id].plan.originalQueryTiers
            if sources[node].body != nil
                || tiers.isSubset(
                    of: sources[node].originals.missing(requests[id].names.plainOriginal))
            {
                return tryNextWay(id)
            }
        }
        join(id, resultName(id, .cache(originalQuery(id))))
    }

    private mutating func fetch(_ id: LiveRequest.ID) {
        if let canvas = requests[id].order.canvas {
            return join(id, resultName(id, .canvas(canvas)))
        }
        if let cached = requests[id].refreshing {
            // Whether an overlay has changed nobody can tell by what the picture was known by.
            let mark = requests[id].order.terms.overlays.isEmpty ? cached.mark : .none
            let terms = FetchTerms(requests[id].order.terms)
            return join(id, resultName(id, .revalidation(mark, terms)))
        }
        if requests[id].attempt == 1 { counters.misses += 1 }
        join(id, resultName(id, requests[id].order.network))
    }

    private func resultName(_ id: LiveRequest.ID, _ origin: Origin) -> ResultName {
        ResultName(key: requests[id].order.key, text: requests[id].names.result, origin: origin)
    }

    /// The query of the original, staged for a decoder. A hit enters the memory tier only where
    /// originals are to be kept there.
    private func originalQuery(_ id: LiveRequest.ID) -> QueryWork {
        QueryWork(
            key: requests[id].names.original, tiers: requests[id].plan.originalQueryTiers,
            destination: .staging,
            promotes: requests[id].image.originalStoreCacheTypes.contains(.memory))
    }
}
