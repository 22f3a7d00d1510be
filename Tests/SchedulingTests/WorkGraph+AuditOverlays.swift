import Model

@testable import Coordinator

extension WorkGraph {
    /// Which images use which overlays, and what that keeps in use.
    func auditOverlays(_ check: (Bool, String) -> Void) {
        var seats = 0
        for (id, gathering) in gatherings {
            seats += gathering.layers.count
            let taken = gathering.layers.enumerated().allSatisfy { index, layer in
                guard let node = layer.decode?.node, decodes.contains(node) else { return false }
                return decodes[node].overlays.contains(.subscriber(id, index))
            }
            check(taken, "the decode of an overlay knows its consumers")
            check(
                hasGathered(id) != gathering.isAwaited,
                "a request waits for overlays until it has all of them")
        }
        for id in results.ids {
            let node = results[id]
            seats += node.overlays.count
            let isProduced = node.exists || node.canvas != nil
            check(
                node.overlays.count == (isProduced ? 0 : node.name.key.overlays.count),
                "a result has its overlays until it is made")
            check(overlays(of: id).count == node.overlays.count, "they are there")
        }
        auditOverlayDecodes(seats, check)
    }

    private func auditOverlayDecodes(_ seats: Int, _ check: (Bool, String) -> Void) {
        let nodes = decodes.ids.map { decodes[$0] }
        for node in nodes {
            check(
                node.name.key.isOverlay ? node.results.isEmpty : node.overlays.isEmpty,
                "pixels are laid over others, or others over them")
        }
        check(
            nodes.reduce(0) { $0 + $1.overlays.count } == seats,
            "nobody else keeps overlays in use")
        let bytes = nodes.filter(\.name.key.isOverlay)
            .reduce(0) { $0 + ($1.pixels?.byteCount ?? 0) }
        check(overlayBytes.count == bytes, "bytes of overlays are counted")
        let kept = nodes.filter { $0.holder != nil }
        for (_, nodes) in Dictionary(grouping: kept, by: \.holder?.owner) {
            let bytes = nodes.reduce(0) { $0 + ($1.pixels?.byteCount ?? 0) }
            let holder = nodes[0].holder
            check(
                holder.map { overlayBytes.count(of: $0.owner) } == bytes,
                "and for whom they are kept")
        }
        check(overlayBytes.count <= limits.overlayBytesMax, "overlays have a budget")
        for job in dispatcher.jobs.values {
            guard case .transform(let work) = job.work else { continue }
            let laid = work.steps.compactMap(\.overlay)
            check(laid.count == work.overlays.count, "a job has what its steps lay over it")
            check(laid.allSatisfy(\.url.isEmpty), "no transformer is told a URL")
            check(job.inputs.count == 1 + laid.count, "a job holds all that it reads")
        }
    }
}
