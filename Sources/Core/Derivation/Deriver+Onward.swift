import Dispatching
import ImageModel
import Messages
import Tables

// The cache does not have an original. Where all waiters would ask its origin next, on the same
// terms, their nodes stay as they are and go on with the fetch. Nothing is torn down to be built
// again.
extension Deriver {
    /// The cache does not have the original, or cannot say: everybody goes on to the next way,
    /// unless it was stored in the meantime.
    mutating func sourceMissed(_ node: SourceNode.ID) {
        if sources[node].freshness.isOvertaken {
            return obtain(node, sources[node].consumers.urgency)
        }
        if fetchInstead(node) { return }
        tearDown(node, .onward(sources[node].timings, missed: sources[node].queriedText))
    }

    /// `false` where a waiter goes another way, would join work that is under way, or would be
    /// refused.
    private mutating func fetchInstead(_ node: SourceNode.ID) -> Bool {
        guard case .cache = sources[node].name.origin, let order = firstOrder(of: node),
            order.plan.includes(.fetch), mayBegin(order, instead: node)
        else { return false }
        let origin = order.network
        let timings = sources[node].timings
        tell(waiters(of: node)) { .fetching(timings, $0) }
        for decode in sources[node].consumers.members {
            for result in decodes[decode].results {
                results.rename(result) { $0.rename(origin) }
            }
            decodes.rename(decode) { $0.rename(origin) }
        }
        sources[node].rename(origin, JobSpec(.fetch(fetchWork(order)), host: order.names.host))
        noteMissing(node)
        obtain(node, sources[node].consumers.urgency)
        return true
    }

    private func firstOrder(of node: SourceNode.ID) -> Order? {
        sources[node].consumers.members.first.flatMap { decodes[$0].results.first }
            .flatMap { results[$0].consumers.members.first?.order }
    }

    /// Whether the source may be fetched by such an order, for all its waiters.
    private func mayBegin(_ order: Order, instead node: SourceNode.ID) -> Bool {
        let origin = order.network
        let isRoom =
            dispatcher.hasRoom(.download) && !dispatcher.isFull(.fetch)
            && !dispatcher.isFull(.decode) && !dispatcher.isFull(.transform)
            && !dispatcher.isFull(.store)
        guard isRoom, sources.serving(Sourced(key: sources[node].name.key, origin: origin)) == nil
        else {
            return false
        }
        return !sources[node].consumers.contains { !mayFetch(order, origin, $0) }
    }

    private func mayFetch(
        _ order: Order, _ origin: ByteSource, _ decode: DecodeNode.ID
    ) -> Bool {
        let name = Sourced(key: decodes[decode].name.key, origin: origin)
        guard !name.key.isOverlay, decodes.first(under: name) == nil else { return false }
        return decodes[decode].results.allSatisfy { result in
            let name = results[result].name.with(origin)
            let isSame = !results[result].consumers.contains {
                $0.order !== order
                    && !($0.order.plan.includes(.fetch) && $0.order.network == origin)
            }
            return isSame && results.first(under: name) == nil && !isPoisoned(name)
        }
    }

    /// Waiters that join later do not ask the same tiers again.
    private mutating func noteMissing(_ node: SourceNode.ID) {
        for waiter in waiters(of: node) {
            sources[node].storing.originals.noteMissing(
                waiter.order.plan.originalQueryTiers, waiter.order.names.plainOriginal)
        }
    }
}
