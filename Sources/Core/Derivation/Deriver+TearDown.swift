import Dispatching
import ImageModel
import Messages
import Tables

// Work that will not be done, and what becomes of its waiters.
extension Deriver {
    mutating func tearDown(_ node: SourceNode.ID, _ disposition: Disposition) {
        for decode in sources[node].consumers.members where decodes.contains(decode) {
            tearDown(decode, disposition)
        }
    }

    mutating func tearDown(_ node: DecodeNode.ID, _ disposition: Disposition) {
        for consumer in decodes[node].consumers.members {
            switch consumer {
            case .result(let result): tearDown(result, disposition)
            case .overlay(let overlay): resolve(disposition, overlay, of: node)
            }
        }
    }

    /// The node is over. With its last result a decode is over, and with its last decode a source.
    mutating func tearDown(_ node: ResultNode.ID, _ disposition: Disposition) {
        let waiters = results[node].consumers.members
        retire(node)
        tell(waiters) { .disposed(disposition, $0) }
    }

    // MARK: - Overlays

    /// What becomes of the consumers of an overlay whose pixels will not come, or are lost.
    private mutating func resolve(
        _ disposition: Disposition, _ consumer: OverlayConsumer, of node: DecodeNode.ID
    ) {
        switch consumer {
        case .result(let result): if results.contains(result) { tearDown(result, disposition) }
        case .waiter(let id, let index):
            guard let gathering = gatherings[id], gathering.layers[index].decode?.node == node
            else { return }
            // A waiter that has gone on waits for a result, which is among the consumers itself.
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
            obtainOverlay(index, of: id)
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
}
