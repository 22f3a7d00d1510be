import Dispatching
import ImageModel
import Messages
import Tables

// What is lost with a worker (SEMANTICS §7.4).
extension Deriver {
    /// A worker is gone. Another one does the jobs that it held. What it had made is lost. Work
    /// that needs that is given up, queued or running, and its waiters begin again. They find what
    /// was stored meanwhile, so that no more is repeated than must be.
    mutating func workerGone(_ departure: Departure) {
        let worker = departure.worker
        if departure.pool == PoolID(.cache) { cacheGone(worker) }
        errandsLose(worker)
        giveUpPartials(after: departure)
        for node in results.ids
        where results.contains(node) && results[node].producer == worker {
            tearDown(node, .again)
        }
        // A result that ends takes the decodes of its overlays with it.
        for node in decodes.ids
        where decodes.contains(node) && decodes[node].pixels?.block.worker == worker {
            tearDown(node, .again)
        }
        for node in sources.ids
        where sources.contains(node) && sources[node].kept?.block.worker == worker {
            lose(node)
        }
        endTranscodes { $0.reads(from: worker) }
        compareAgain(after: worker)
        dispatcher.redistribute(after: departure)
    }

    /// The bytes were lost with their producer: stores and decodes of them are of no use.
    private mutating func lose(_ node: SourceNode.ID) {
        endStores(of: node)
        endTranscodes { $0.keepsSource && $0.material.source == node }
        guard sources.contains(node) else { return }
        tearDown(node, .again)
        tidy(node)
    }

    /// The cache is gone, and with it everything that it had in memory. Queries and deliveries
    /// wait for its return; images whose reply has not gone out yet are made again.
    private mutating func cacheGone(_ worker: WorkerID) {
        tell(.cacheGone(worker))
        var lost: [Waiter.ID] = []
        for node in sources.ids {
            lost += Self.takeLost(&sources[node].storing.watchers, with: worker)
        }
        for node in transcodes.ids {
            lost += Self.takeLost(&transcodes[node].watchers, with: worker)
        }
        if !lost.isEmpty { tell(.lost(lost)) }
    }

    /// Takes out the watchers whose image was in that cache: they wait for no store any more.
    private static func takeLost(
        _ watchers: inout WatcherList, with cache: WorkerID
    ) -> [Waiter.ID] {
        let leaving = watchers.seats { $0.cache == cache }
        return leaving.map { watchers.leave($0).id }
    }
}
