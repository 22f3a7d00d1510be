import Dispatching
import ImageModel
import Messages
import Tables

// Who needs the pixels of overlays, and what becomes of them where these are lost.
extension Deriver {
    /// What becomes of those who lay the pixels of a decode over an image that will not be there,
    /// or are there no longer.
    mutating func resolve(
        _ disposition: Disposition, _ consumer: OverlayConsumer, of node: DecodeNode.ID
    ) {
        switch consumer {
        case .result(let result): if results.contains(result) { tearDown(result, disposition) }
        case .waiter(let id, let index):
            guard let gathering = gatherings[id], gathering.layers[index].decode?.node == node
            else { return }
            // Who has gone on with it waits for a result that knows by itself.
            guard gathering.isAwaited else { return leaveOverlays(id) }
            resolve(disposition, index, of: id, gathering.layers[index])
        }
    }

    private mutating func resolve(
        _ disposition: Disposition, _ index: Int, of id: Waiter.ID, _ layer: Gathering.Layer
    ) {
        if case .onward(let timings, _) = disposition {
            tell(.tried(timings, id))
            gatherings[id]?.layers[index].decode = nil
            gatherings[id]?.layers[index].hasAskedCache = true
            gatherings[id]?.layers[index].missed = layer.order.image.originalQueryCacheTypes
            if let need = layer.decode { leaveOverlay(need) }
            obtain(index, of: id)
            return goOnIfGathered(id)
        }
        leaveOverlays(id)
        switch disposition {
        case .fail(let error):
            let failure = ImageError.overlay(error, url: layer.order.image.url)
            tell(.disposed(.fail(failure), [id]))
        case .afresh: tell(.disposed(.afresh, [id]))
        case .again, .onward, .unmodified: tell(.disposed(.again, [id]))
        }
    }

    /// A waiter needs none of its overlays any more, or none of these.
    package mutating func leaveOverlays(_ id: Waiter.ID) {
        guard !gatherings.isEmpty, let gathering = gatherings.removeValue(forKey: id) else {
            return
        }
        for layer in gathering.layers {
            if let need = layer.decode { leaveOverlay(need) }
        }
    }

    /// A result needs them no more.
    mutating func leave(_ overlays: [Need<DecodeNode>]) {
        for need in overlays { leaveOverlay(need) }
    }

    private mutating func leaveOverlay(_ need: Need<DecodeNode>) {
        leave(need)
        if decodes.contains(need.node) { passOn(need.node) }
    }

    /// Where the one for whom pixels are kept needs them no more, they are kept for another one.
    private mutating func passOn(_ node: DecodeNode.ID) {
        let flows = decodes[node].consumers.urgency.flows
        guard let holder = decodes[node].holder, let pixels = decodes[node].pixels,
            !flows.contains(holder)
        else { return }
        overlayBytes.release(pixels.pixels.reference.length, of: holder)
        overlayBytes.keep(pixels.pixels.reference.length, for: flows.first)
        decodes[node].holder = flows.first
    }

    /// Who waits for overlays wants them more or less than before.
    mutating func reprioritiseOverlays(of id: Waiter.ID, _ urgency: Urgency) {
        gatherings[id]?.urgency = urgency
        for layer in gatherings[id]?.layers ?? [] {
            if let need = layer.decode { update(need, urgency) }
        }
    }

    /// The job that the first missing overlay waits for.
    func awaitedOverlayJob(of id: Waiter.ID) -> JobID? {
        let nodes = (gatherings[id]?.layers ?? []).compactMap { $0.decode?.node }
        guard let node = nodes.first(where: { decodes[$0].pixels == nil }) else { return nil }
        return awaitedJob(of: node)
    }

    // MARK: - Pixels

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
        results[node].overlays.compactMap { decodes[$0.node].pixels }
    }

    /// Where a result may be kept that is made of an image with that provenance: nowhere, where
    /// an overlay depends on what was said to its origin, since that is in no key.
    func provenance(of node: ResultNode.ID, _ image: Provenance) -> Provenance {
        var provenance = image
        if results[node].overlays.contains(where: { decodes[$0.node].isVaried }) {
            provenance.keeping = .nowhere
        }
        return provenance
    }

    static let noOverlayRoom = ImageError.busy("there is no space for more overlays")
}

extension TransformWork {
    /// Steps and encode of pixels, with what is laid over them.
    init(
        _ pixels: DecodedImage.Pixels, _ info: ImageInfo, _ steps: [TransformStep],
        over overlays: [DecodeNode.Pixels], _ output: OutputOptions, _ limits: ImageLimits
    ) {
        self.init(
            source: pixels.reference, layout: pixels.layout, sourceInfo: info,
            steps: steps.map(\.forJobs), output: output, limits: limits,
            overlays: overlays.map {
                OverlayInput(
                    source: $0.pixels.reference, layout: $0.pixels.layout, info: $0.info)
            })
    }
}
