import Derivation
import Dispatching
import ImageModel
import Messages
import Tables

// Requests that have their image: some go on to the origin.
extension Scheduler {
    /// A request has the result that the cache found.
    mutating func completeFound(
        _ id: LiveRequest.ID, _ hit: CacheHit, _ block: BlockHandle?, _ timings: StageTimings
    ) {
        requests[id].timings += timings
        let request = requests[id]
        var image = DeliveredImage(
            reference: request.image.infoOnly ? nil : hit.reference, info: hit.metadata.info,
            cacheType: hit.tier, key: request.names.resultKey,
            storedTiers: request.waitsForStores ? hit.tier : nil)
        image.explanation = Explanation(request.order, image)
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
        var image = explained(made, for: id)
        if !requests[id].waitsForStores { image.storedTiers = nil }
        guard !made.isFetched, requests[id].plan.refreshes else {
            return answer(id, image, block)
        }
        answerCached(id, image, block, Refreshing(mark: made.mark, tiers: .none))
    }

    /// The image that was made, with how it was where the request asks for that.
    func explained(_ made: Made, for id: LiveRequest.ID) -> DeliveredImage {
        var image = made.image
        image.explanation = Explanation(requests[id].order, image, made: made)
        return image
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
