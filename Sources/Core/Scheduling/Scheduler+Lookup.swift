import Dispatching
import ImageModel
import Messages
import Tables

// A query of the result's key, from joining to its outcome.
extension Scheduler {
    /// Joins the query that is under way, or begins one.
    mutating func lookUp(_ id: LiveRequest.ID) {
        let request = requests[id]
        let query = QueryWork(
            key: request.names.result, tiers: request.plan.queryTiers, destination: .results,
            promotes: request.image.storeCacheTypes.contains(.memory))
        if let node = lookupTable[query.key].first(where: { lookups[$0].query == query }) {
            counters.coalesced.lookups += 1
            let seat = lookups[node].waiters.join(id, request.urgency)
            requests[id].standing = .lookup(node, seat)
            return retune(lookups[node].job, lookups[node].waiters.urgency)
        }
        if let error = refusal(in: .query) { return reply(id, .failure(error)) }
        // The job follows at once; it needs to know the node.
        let node = lookups.insert(
            LookupNode(query: query, job: JobID(0), trace: request.order.trace))
        let seat = lookups[node].waiters.join(id, request.urgency)
        requests[id].standing = .lookup(node, seat)
        lookupTable.insert(node, under: query.key)
        lookups[node].job = submit(
            .query(query), for: .lookup(node), reading: nil, request.urgency)
    }

    /// The cache has the result: everybody is answered.
    mutating func lookup(
        _ node: LookupNode.ID, found hit: CacheHit, _ job: Completion.Ended
    ) {
        guard let cache = job.worker else { preconditionFailure("a cache found the result") }
        let waiters = lookups[node].waiters.waiters
        resultBlocks.notice(hit.reference, of: cache)
        if lookups[node].isOutdated { return askAgain(node) }
        retire(node)
        let block = BlockHandle(worker: cache, block: hit.reference.block)
        later(.found(hit, Self.timings(job)), waiters, block: block)
    }

    private static func timings(_ job: Completion.Ended) -> StageTimings {
        var timings = StageTimings()
        timings.add(job)
        return timings
    }

    /// A request has the result that the cache found.
    mutating func answer(
        _ id: LiveRequest.ID, _ hit: CacheHit, _ block: BlockHandle?, _ timings: StageTimings
    ) {
        requests[id].timings += timings
        let request = requests[id]
        let image = DeliveredImage(
            reference: request.image.infoOnly ? nil : hit.reference, info: hit.metadata.info,
            cacheType: hit.tier, key: request.names.resultKey,
            storedTiers: request.waitsForStores ? hit.tier : nil)
        if hit.tier == .memory { counters.memoryHits += 1 } else { counters.diskHits += 1 }
        answerCached(
            id, image, block, Refreshing(mark: BodyMark(hit.metadata), tiers: hit.tier))
    }

    /// The cache does not have it, or cannot say: everybody goes on to the next way, unless the
    /// key was stored in the meantime.
    mutating func lookupMissed(_ node: LookupNode.ID, _ job: Completion.Ended) {
        let lookup = lookups[node]
        guard !lookup.isOvertaken else { return askAgain(node) }
        retire(node)
        later(
            .missed(lookup.query.tiers, Self.timings(job)), lookup.waiters.waiters,
            missed: lookup.query.key)
    }

    private mutating func askAgain(_ node: LookupNode.ID) {
        let again = submit(
            .query(lookups[node].query), for: .lookup(node), reading: nil,
            lookups[node].waiters.urgency)
        lookups[node].askAgain(again)
    }

    /// The node is over; its job, if it still runs, is of no use.
    mutating func retire(_ node: LookupNode.ID) {
        guard let lookup = lookups.remove(node) else { return }
        lookupTable.remove(node, under: lookup.query.key)
        abandon(lookup.job)
    }

    /// A key was stored: queries of it that are under way may have come too early, and their miss
    /// must not lead to a second transfer.
    mutating func overtakeQueries(of key: String, _ source: SourceKey) {
        overtakeBulkWork(of: key)
        for node in lookupTable[key] { lookups[node].overtake() }
        for node in sourceTable[source] where sources[node].queriedText == key {
            sources[node].isOvertaken = true
        }
    }
}
