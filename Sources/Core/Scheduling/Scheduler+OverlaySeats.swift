import Dispatching
import ImageModel
import Messages
import Tables

// Who needs the pixels of overlays, and what becomes of them where these are lost.
extension Scheduler {
    /// What becomes of those who lay the pixels of a decode over a picture that will not be there,
    /// or are there no longer.
    mutating func meet(_ fate: Fate, _ taker: OverlayTaker, of node: DecodeNode.ID) {
        switch taker {
        case .result(let result): if results.contains(result) { dissolve(result, fate) }
        case .request(let id, let index):
            guard requests.contains(id), let place = requests[id].gathering?.places[index],
                place.decode?.node == node
            else { return }
            // Who has gone on with it waits for a result that knows by itself.
            guard case .overlays = requests[id].standing else { return leaveOverlays(id) }
            meet(fate, index, of: id, place)
        }
    }

    private mutating func meet(
        _ fate: Fate, _ index: Int, of id: LiveRequest.ID, _ place: Gathering.Place
    ) {
        if case .onward(let timings, _) = fate {
            requests[id].timings += timings
            requests[id].gathering?.places[index].decode = nil
            requests[id].gathering?.places[index].hasAskedCache = true
            requests[id].gathering?.places[index].missed =
                place.order.image.originalQueryCacheTypes
            if let seat = place.decode { leave(seat) }
            obtain(index, of: id)
            return goOnIfGathered(id)
        }
        leaveOverlays(id)
        requests[id].standing = .moving
        switch fate {
        case .fail(let error):
            let failure = ImageError.overlay(error, url: place.order.image.url)
            later(.fate(.fail(failure)), [id])
        case .afresh: later(.fate(.afresh), [id])
        case .again, .onward, .unmodified: later(.fate(.again), [id])
        }
    }

    /// A request needs none of its overlays any more, or none of these.
    mutating func leaveOverlays(_ id: LiveRequest.ID) {
        guard let gathering = requests[id].gathering else { return }
        requests[id].gathering = nil
        for place in gathering.places {
            if let seat = place.decode { leave(seat) }
        }
    }

    /// A result needs them no more.
    mutating func leave(_ seats: [OverlaySeat]) {
        for seat in seats { leave(seat) }
    }

    private mutating func leave(_ seat: OverlaySeat) {
        decodes[seat.node].takers.leave(seat.seat)
        guard decodes[seat.node].isNeeded else { return retire(seat.node) }
        passOn(seat.node)
        spread(seat.node)
    }

    /// Where the one for whom pixels are kept needs them no more, they are kept for another one.
    private mutating func passOn(_ node: DecodeNode.ID) {
        let flows = decodes[node].urgency.flows
        guard let holder = decodes[node].holder, let pixels = decodes[node].pixels,
            !flows.contains(holder)
        else { return }
        overlayBytes.release(pixels.pixels.reference.length, of: holder)
        overlayBytes.keep(pixels.pixels.reference.length, for: flows.first)
        decodes[node].holder = flows.first
    }

    /// A request that waits for overlays wants them more or less than before.
    mutating func spreadOverlays(of id: LiveRequest.ID) {
        for place in requests[id].gathering?.places ?? [] {
            guard let seat = place.decode else { continue }
            decodes[seat.node].takers.update(seat.seat, requests[id].urgency)
            spread(seat.node)
        }
    }

    /// The job that the first missing overlay waits for.
    func awaitedOverlayJob(of id: LiveRequest.ID) -> JobID? {
        let nodes = (requests[id].gathering?.places ?? []).compactMap { $0.decode?.node }
        guard let node = nodes.first(where: { decodes[$0].pixels == nil }) else { return nil }
        return decodes[node].job ?? decodes[node].source.flatMap { sources[$0].job }
    }

    // MARK: - Pixels

    /// A result is made with what was gathered for the request that begins it.
    mutating func takeOverlays(_ node: ResultNode.ID, from id: LiveRequest.ID) {
        let seats = (requests[id].gathering?.places ?? []).compactMap(\.decode)
        results[node].overlays = seats.map { seat in
            let own = decodes[seat.node].takers.join(.result(node), requests[id].urgency)
            return OverlaySeat(node: seat.node, seat: own)
        }
    }

    /// The pixels that are laid over a result, in the order of its steps.
    func overlays(of node: ResultNode.ID) -> [DecodeNode.Pixels] {
        results[node].overlays.compactMap { decodes[$0.node].pixels }
    }

    /// Where a result may be kept that is made of a picture with that provenance: nowhere, where
    /// an overlay depends on what was said to its origin, since that is in no key.
    func provenance(of node: ResultNode.ID, _ picture: Provenance) -> Provenance {
        var provenance = picture
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
