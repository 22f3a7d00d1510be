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
        image.digest = hit.metadata.digest
        if request.image.context.wantsExtendedData {
            image.extendedData = hit.metadata.extendedData
        }
        if hit.tier == .memory {
            figures.counters.memoryHits += 1
        } else {
            figures.counters.diskHits += 1
        }
        let mark = BodyMark(hit.metadata)
        image.validity = told(hit.metadata.caching, mark, of: request.order)
        answerCached(
            id, image, block,
            LiveRequest.CachedImage(mark: mark, tiers: hit.tier, caching: hit.metadata.caching))
    }

    /// A request has what was made for it.
    mutating func complete(_ id: LiveRequest.ID, _ made: Made, _ block: BlockHandle?) {
        took(id, made)
        var image = explained(made, for: id)
        if !requests[id].waitsForStores { image.storedTiers = nil }
        let plan = requests[id].plan
        guard let cached = LiveRequest.CachedImage(made), plan.refreshes || made.isOfCachedOriginal
        else { return answer(id, image, block) }
        answerCached(id, image, block, cached)
    }

    /// The image that was made, with how it was where the request asks for that.
    func explained(_ made: Made, for id: LiveRequest.ID) -> DeliveredImage {
        var image = made.image
        let order = requests[id].order
        image.explanation = Explanation(order, image, made: made)
        image.validity = told(made.caching, made.mark, of: order)
        if requests[id].image.context.wantsExtendedData { image.extendedData = made.extendedData }
        return image
    }

    /// The image of a request that waits for nothing any more.
    mutating func answerPending(_ id: LiveRequest.ID) {
        guard let pending = requests[id].pending else {
            preconditionFailure("who waits for stores has its image")
        }
        requests[id].pending = nil
        if let cached = pending.cached, requests[id].plan.respectsCacheControl {
            answer(id, pending.image, pending.block, asFarAsFresh: cached)
        } else {
            answer(id, pending.image, pending.block)
        }
        if let block = pending.block { letGo(block) }
    }
}

extension LiveRequest.CachedImage {
    /// That of an image that was made; `nil` where its bytes were fetched.
    init?(_ made: Made) {
        guard !made.isFetched else { return nil }
        self.init(mark: made.mark, tiers: .none, caching: made.caching)
    }
}
