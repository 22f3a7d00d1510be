package import Dispatching
package import ImageModel
import Messages
import Tables

// A query of the result's key, from joining to its outcome.
extension Deriver {
    /// Joins the query that is under way, or begins one; throws why none can be begun.
    package mutating func lookUp(_ waiter: Waiter, _ urgency: Urgency) throws(ImageError) -> Place {
        let order = waiter.order
        let query = QueryWork(
            key: order.names.result, tiers: order.plan.queryTiers, destination: .results,
            promotes: order.image.storeCacheTypes.contains(.memory))
        if let node = lookups.first(under: query.key, where: { $0.query == query }) {
            figures.joinedLookups += 1
            let seat = lookups[node].consumers.join(waiter, urgency)
            propagate(node)
            return Place(.lookup(Need(node: node, seat: seat)))
        }
        if let error = dispatcher.refusal(in: .query) { throw error }
        let node = lookups.insert(LookupNode(query: query, order.logContext))
        let seat = lookups[node].consumers.join(waiter, urgency)
        ask(node)
        return Place(.lookup(Need(node: node, seat: seat)))
    }

    /// The cache has the result: everybody is answered.
    mutating func lookup(
        _ node: LookupNode.ID, found hit: CacheHit, _ job: Completion.Ended
    ) {
        guard let cache = job.worker else { preconditionFailure("a cache found the result") }
        tell(.noticed(hit.reference, cache))
        if lookups[node].isOutdated { return ask(node) }
        let waiters = lookups[node].consumers.members
        retire(node)
        let block = BlockHandle(worker: cache, block: hit.reference.block)
        tell(waiters) { .found(hit, block, Self.timings(job), $0) }
    }

    private static func timings(_ job: Completion.Ended) -> StageTimings {
        var timings = StageTimings()
        timings.add(job)
        return timings
    }

    /// The cache does not have it, or cannot say: everybody goes on to the next way, unless the
    /// key was stored in the meantime.
    mutating func lookupMissed(_ node: LookupNode.ID, _ job: Completion.Ended) {
        guard !lookups[node].isOvertaken else { return ask(node) }
        let query = lookups[node].query
        let waiters = lookups[node].consumers.members
        retire(node)
        tell(waiters) { .missed(query.key, query.tiers, Self.timings(job), $0) }
    }

    private mutating func ask(_ node: LookupNode.ID) {
        let job = submit(
            .query(lookups[node].query), for: .lookup(node), reading: nil,
            lookups[node].consumers.urgency)
        lookups[node].asked(job)
    }
}
