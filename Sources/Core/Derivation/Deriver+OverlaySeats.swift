import Dispatching
import ImageModel
import Messages
import Tables

// The consumers of an overlay's pixels: waiters and results.
extension Deriver {
    /// A result is made with what was gathered for the waiter that begins it.
    mutating func takeOverlays(_ node: ResultNode.ID, from id: Waiter.ID, _ urgency: Urgency) {
        guard !gatherings.isEmpty else { return }
        let gathered = (gatherings[id]?.layers ?? []).compactMap(\.decode)
        results[node].overlays = gathered.map { need in
            let own = decodes[need.node].consumers.join(.overlay(.result(node)), urgency)
            return Need(node: need.node, seat: own)
        }
    }

    /// The pixels that are laid over a result, in the order of its steps.
    func overlays(of node: ResultNode.ID) -> [DecodeNode.Pixels] {
        let needs = results[node].overlays
        return needs.isEmpty ? [] : needs.compactMap { decodes[$0.node].pixels }
    }

    /// Where a result may be kept that is made of an image with that provenance: nowhere, where
    /// an overlay depends on what was said to its origin, since that is in no key.
    func provenance(of node: ResultNode.ID, _ image: Provenance) -> Provenance {
        var provenance = image
        for overlay in results[node].overlays where decodes[overlay.node].isVaried {
            provenance.keeping = .nowhere
        }
        return provenance
    }

    /// A waiter wants its overlays more or less urgently than before.
    mutating func reprioritiseOverlays(of id: Waiter.ID, _ urgency: Urgency) {
        gatherings[id]?.urgency = urgency
        for layer in gatherings[id]?.layers ?? [] {
            if let need = layer.decode { update(need, urgency) }
        }
    }

    // MARK: - Leaving

    /// A waiter no longer needs its overlays, or these of them.
    package mutating func leaveOverlays(_ id: Waiter.ID) {
        guard !gatherings.isEmpty, let gathering = gatherings.removeValue(forKey: id) else {
            return
        }
        for layer in gathering.layers {
            if let need = layer.decode { leaveOverlay(need) }
        }
    }

    /// A result no longer needs what is laid over its pixels.
    mutating func leaveOverlays(of node: ResultNode.ID) {
        let seats = results[node].overlays
        results[node].overlays = []
        for need in seats { leaveOverlay(need) }
    }

    /// One consumer no longer needs an overlay.
    mutating func leaveOverlay(_ need: Need<DecodeNode>) {
        detach(from: need)
        if decodes.contains(need.node) { passOn(need.node) }
    }

    /// Pixels count for one consumer. When it no longer needs them, they count for another one.
    private mutating func passOn(_ node: DecodeNode.ID) {
        let flows = decodes[node].consumers.urgency.flows
        guard let holder = decodes[node].holder, let pixels = decodes[node].pixels,
            !flows.contains(holder)
        else { return }
        overlayBytes.release(pixels.byteCount, of: holder)
        overlayBytes.keep(pixels.byteCount, for: flows.first)
        decodes[node].holder = flows.first
    }
}
