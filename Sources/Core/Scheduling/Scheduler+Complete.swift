import Derivation
import Dispatching
import ImageModel
import Messages
import Tables

// Requests that have their image: some wait for stores, some go on to the origin.
extension Scheduler {
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
        if hit.tier == .memory {
            figures.counters.memoryHits += 1
        } else {
            figures.counters.diskHits += 1
        }
        answerCached(
            id, image, block, Refreshing(mark: BodyMark(hit.metadata), tiers: hit.tier))
    }

    /// A request has what was made for it.
    mutating func complete(_ id: LiveRequest.ID, _ made: Made, _ block: BlockHandle?) {
        took(id, made)
        var image = made.image
        if !requests[id].waitsForStores { image.storedTiers = nil }
        guard !made.isFetched, requests[id].plan.refreshes else {
            return answer(id, image, block)
        }
        answerCached(id, image, block, Refreshing(mark: made.mark, tiers: .none))
    }

    private mutating func took(_ id: LiveRequest.ID, _ made: Made) {
        requests[id].timings += made.timings
        if made.isOfCachedOriginal { figures.counters.originalUses += 1 }
    }

    /// The same under `waitStoreCache`: it keeps its image until the store there has ended, if
    /// there is one.
    mutating func keep(
        _ id: LiveRequest.ID, _ made: Made, _ block: BlockHandle?, at place: Place?
    ) {
        took(id, made)
        if let block { hits.hold(block) }
        requests[id].pending = LiveRequest.Pending(image: made.image, block: block)
        if let place { requests[id].standing = .waiting(place) } else { later(.pending, [id]) }
    }

    /// Nothing is left to wait for.
    mutating func answer(_ stored: [Stored]) {
        for one in stored { requests[one.id].pending?.image.storedTiers = one.tiers }
        later(.pending, stored.map(\.id))
    }

    /// The image of a request that waits for nothing any more.
    mutating func answerPending(_ id: LiveRequest.ID) {
        guard let pending = requests[id].pending else {
            preconditionFailure("who waits for stores has its image")
        }
        requests[id].pending = nil
        answer(id, pending.image, pending.block)
        if let block = pending.block { letGo(block) }
    }
}
