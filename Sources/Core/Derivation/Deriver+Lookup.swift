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
            let seat = lookups[node].waiters.join(waiter, urgency)
            propagate(node)
            return Place(.lookup(node, seat))
        }
        if let error = dispatcher.refusal(in: .query) { throw error }
        // The job follows at once; it needs to know the node.
        let node = lookups.insert(LookupNode(query: query, job: JobID(0), trace: order.trace))
        let seat = lookups[node].waiters.join(waiter, urgency)
        lookups[node].job = submit(.query(query), for: .lookup(node), reading: nil, urgency)
        return Place(.lookup(node, seat))
    }

    /// The cache has the result: everybody is answered.
    mutating func lookup(
        _ node: LookupNode.ID, found hit: CacheHit, _ job: Completion.Ended
    ) {
        guard let cache = job.worker else { preconditionFailure("a cache found the result") }
        tell(.noticed(hit.reference, cache))
        if lookups[node].isOutdated { return askAgain(node) }
        let waiters = lookups[node].waiters.waiters
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
        guard !lookups[node].isOvertaken else { return askAgain(node) }
        let query = lookups[node].query
        let waiters = lookups[node].waiters.waiters
        retire(node)
        tell(waiters) { .missed(query.key, query.tiers, Self.timings(job), $0) }
    }

    private mutating func askAgain(_ node: LookupNode.ID) {
        let again = submit(
            .query(lookups[node].query), for: .lookup(node), reading: nil,
            lookups[node].waiters.urgency)
        lookups[node].askAgain(again)
    }

    /// The node is over; its job, if it still runs, is of no use.
    mutating func retire(_ node: LookupNode.ID) {
        if let lookup = lookups.remove(node) { abandon(lookup.job) }
    }

    /// Its waiters want it more or less than before.
    mutating func propagate(_ node: LookupNode.ID) {
        dispatcher.reprioritise(lookups[node].job, lookups[node].waiters.urgency)
    }

    /// A key was stored: queries of it that are under way may have come too early, and their miss
    /// must not lead to a second transfer.
    mutating func overtakeQueries(of text: String, _ source: SourceKey) {
        tell(.overtaken(text))
        for node in lookups.all(under: text) { lookups[node].overtake() }
        for node in sources.all(under: source) where sources[node].queriedText == text {
            sources[node].isOvertaken = true
        }
    }

    /// A result was replaced: queries of it that are under way may bring the old one.
    mutating func outdateQueries(of text: String) {
        for node in lookups.all(under: text) { lookups[node].outdate() }
    }
}
