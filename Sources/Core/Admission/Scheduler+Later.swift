import Derivation
import Dispatching
import ImageModel
import Messages
import Tables

// Requests that only wait for their turn.
extension Scheduler {
    /// Requests that wait nowhere any more go on with this step, each in its turn. The block is
    /// held until the last of them had its turn.
    mutating func later(
        _ step: BulkWork.Step, _ members: [LiveRequest.ID], block: BlockHandle? = nil,
        missed text: String? = nil
    ) {
        guard !members.isEmpty else { return }
        for id in members { requests[id].standing = .moving }
        if let block { hits.hold(block) }
        agenda.append(BulkWork(step, members, block: block, missedText: text))
    }

    /// A request that has its image keeps it until the store at that place has ended, if there is
    /// one.
    mutating func keep(
        _ id: LiveRequest.ID, _ made: Made, _ block: BlockHandle?, at place: Place?
    ) {
        took(id, made)
        if let block { hits.hold(block) }
        requests[id].pending = LiveRequest.Pending(
            image: explained(made, for: id), block: block,
            cached: made.isOfCachedOriginal ? LiveRequest.CachedImage(made) : nil)
        if let place { requests[id].standing = .waiting(place) } else { later(.pending, [id]) }
    }

    /// The stores that these requests waited for have ended.
    mutating func storesEnded(_ stored: [Stored]) {
        for one in stored { requests[one.id].pending?.image.storedTiers = one.tiers }
        later(.pending, stored.map(\.id))
    }

    /// Counts what was made for a request.
    mutating func took(_ id: LiveRequest.ID, _ made: Made) {
        requests[id].timings += made.timings
        if made.isOfCachedOriginal { figures.counters.originalUses += 1 }
    }

    /// The image of a request was lost with the cache before its reply went out.
    mutating func loseAnswer(_ id: LiveRequest.ID) {
        requests[id].standing = .moving
        requests[id].pending = nil
        agenda.append(.again(id))
    }
}
