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
        guard requests[id].plan.refreshes, requests[id].image.refusal(of: image.info) == nil
        else { return answer(id, image, block) }
        if requests[id].batch == nil { show(id, image, block, isRefreshing: true) }
        requests[id].refreshing = Refreshing(
            mark: cached.mark, tiers: cached.tiers, caching: cached.caching)
        deriver.leaveOverlays(id)
        requests[id].ways = requests[id].allWays
        requests[id].standing = .moving
        agenda.append(.onward(id))
    }
}
