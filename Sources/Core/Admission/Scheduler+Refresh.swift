import Derivation
import Dispatching
import ImageModel
import Messages
import Tables

// refreshCached: the cached image at once, then what the origin says of it (SEMANTICS §6.1).
extension Scheduler {
    /// The cache has the image. A request that refreshes gets it now and goes on to the origin. For
    /// any other one this is the end.
    mutating func answerCached(
        _ id: LiveRequest.ID, _ image: DeliveredImage, _ block: BlockHandle?,
        _ cached: LiveRequest.CachedImage
    ) {
        if requests[id].plan.respectsCacheControl {
            return answer(id, image, block, asFarAsFresh: cached)
        }
        guard requests[id].plan.refreshes else { return answer(id, image, block) }
        if requests[id].batch == nil { show(id, image, block) }
        requests[id].refreshing = Refreshing(
            mark: cached.mark, tiers: cached.tiers, expiry: cached.expiry)
        deriver.leaveOverlays(id)
        requests[id].ways = requests[id].allWays
        requests[id].standing = .moving
        agenda.append(.onward(id))
    }

    /// The cached image, before the terminal reply.
    private mutating func show(_ id: LiveRequest.ID, _ image: DeliveredImage, _ block: BlockHandle?)
    {
        let request = requests[id]
        var image = image
        image.scaleFactor = request.scaleFactor
        if let block { lend(&image, block, to: request.client) }
        var timings = request.timings
        timings.total = now.fractionalMilliseconds(since: request.facts.admittedAt)
        actions.append(
            .reply(
                request.client,
                Reply(
                    token: request.token, outcome: .image(image), timings: timings,
                    isRefreshing: true)))
    }
}
