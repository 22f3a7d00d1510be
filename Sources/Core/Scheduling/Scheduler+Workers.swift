import Dispatching
import ImageModel
import Messages
import Tables

// What is lost with a worker (SEMANTICS §7.4).
extension Scheduler {
    /// A worker is gone. Jobs that it held are done by another; what it had made is lost, and with
    /// it every piece of work that needs it: queued or running, it is given up, and its requests
    /// begin again. They find what was stored meanwhile, so that no more is repeated than must be.
    mutating func workerGone(_ departure: Departure) {
        let worker = departure.worker
        if departure.kind == .cache { cacheGone(worker) }
        for node in results.ids
        where results.contains(node) && results[node].product?.block.worker == worker {
            dissolve(node, .again)
        }
        // With a result end the decodes of what is laid over it.
        for node in decodes.ids
        where decodes.contains(node) && decodes[node].pixels?.block.worker == worker {
            dissolve(node, .again)
        }
        for node in sources.ids
        where sources.contains(node) && sources[node].kept?.block.worker == worker {
            lose(node)
        }
        endTranscodes { $0.reads(from: worker) }
        weighAgain(after: worker)
        dispatcher.redistribute(after: departure)
    }

    /// The cache is gone, and with it everything that it had in memory. Queries and deliveries
    /// wait for its return; images whose reply has not gone out yet are made again.
    private mutating func cacheGone(_ worker: WorkerID) {
        hits.removeAll()
        touches.removeAll()
        resultBlocks.leave(worker)
        for id in requests.ids {
            guard requests[id].pending?.block?.worker == worker else { continue }
            switch requests[id].standing {
            case .original(let node, let seat): sources[node].watchers.leave(seat)
            case .transcode(let node, let seat): transcodes[node].watchers.leave(seat)
            case .moving, .lookup, .overlays, .result: continue
            }
            requests[id].pending = nil
            requests[id].standing = .moving
            moving.append(.again(id))
        }
    }
}
