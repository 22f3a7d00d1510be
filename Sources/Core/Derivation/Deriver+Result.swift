package import Dispatching
package import ImageModel
import Messages
import Tables

// A waiter joins the result that is being made, or begins it.
extension Deriver {
    /// Joins the result that is being made of such bytes, or begins to make it. Throws why it
    /// cannot be begun.
    package mutating func join(
        _ waiter: Waiter, of origin: ByteSource, _ urgency: Urgency, missed: MissedTiers
    ) throws(ImageError) -> Place {
        let name = waiter.order.result(of: origin)
        if let node = results.first(under: name) {
            figures.joinedResults += 1
            let place = sit(waiter, at: node, urgency, missed)
            propagate(node)
            return place
        }
        if let error = refusal(toMake: name, of: waiter.order) { throw error }
        let node = results.insert(ResultNode(name: name, for: waiter))
        let place = sit(waiter, at: node, urgency, missed)
        takeOverlays(node, from: waiter.id, urgency)
        if let canvas = results[node].canvas {
            paint(node, canvas)
        } else {
            obtainPixels(of: node, for: waiter, missed)
        }
        return place
    }

    /// Whether a result is being made of such bytes, after those tiers were asked for it.
    package func isMaking(_ order: Order, of origin: ByteSource, afterAsking tiers: CacheTypes)
        -> Bool
    {
        guard let node = results.first(under: order.result(of: origin)) else { return false }
        return tiers.isSubset(of: results[node].knownMissing)
    }

    private mutating func sit(
        _ waiter: Waiter, at node: ResultNode.ID, _ urgency: Urgency, _ missed: MissedTiers
    ) -> Place {
        let seat = results[node].consumers.join(waiter, urgency)
        results[node].policy.unite(waiter.storePolicy)
        results[node].knownMissing.formUnion(missed.result)
        if results[node].exists {
            leaveOverlays(waiter.id)
            waitsForSpace(node, true)
        }
        tellSource(of: node, about: waiter, missed)
        return Place(.result(Need(node: node, seat: seat)))
    }

    /// A result needs pixels: those of the decode that is under way, or of a new one.
    private mutating func obtainPixels(
        of node: ResultNode.ID, for waiter: Waiter, _ missed: MissedTiers
    ) {
        let name = results[node].name.decode
        let known = decodes.first(under: name)
        let decode =
            known ?? decodes.insert(DecodeNode(name: name, waiter.order.logContext))
        link(node, to: decode, as: .result(node))
        if known == nil {
            obtainBytes(of: decode, waiter.order)
        } else {
            figures.joinedDecodes += 1
            propagate(decode)
        }
        results[node].source = decodes[decode].source
        tellSource(of: node, about: waiter, missed)
        if case .decoded = decodes[decode].state { usePixels(node) }
    }
}
