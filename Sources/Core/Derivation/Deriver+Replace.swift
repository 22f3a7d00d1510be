import Dispatching
import ImageModel
import Messages
import Tables

// What a refresh brought takes the place of everything that is older.
extension Deriver {
    /// The new bytes are an image, or the cache has them now. All work on older bytes begins again,
    /// under every text, so that it is not stored after what replaced it. Older refreshes go on:
    /// were they begun again, refreshes of an image that changes with each answer would restart
    /// each other for ever.
    mutating func outdateOthers(of node: SourceNode.ID) {
        let key = sources[node].name.key
        outdateOlderRefreshes(than: node, of: key)
        for other in sources.all(under: key) where other != node && !isRefreshed(other) {
            endStores(of: other)
            tidy(other)
        }
        endTranscodes { transcode in
            transcode.material.key == key && transcode.material.source != node
                && !transcode.material.isRevalidation
        }
        restartOverlays(of: key, exceptOf: node)
        for other in results.ids where results.contains(other) {
            let result = results[other]
            guard result.name.key.decode.source == key, result.source != node,
                !result.name.origin.isRevalidation
            else { continue }
            tearDown(other, .afresh)
        }
    }

    /// Overlays that are still on their way are loaded anew: otherwise the older bytes would be
    /// stored when they come. Consumers that have pixels keep them, since no key says which version
    /// they are of.
    private mutating func restartOverlays(of key: SourceKey, exceptOf newest: SourceNode.ID) {
        for other in decodes.ids where decodes.contains(other) {
            let decode = decodes[other]
            guard decode.name.key.isOverlay, decode.name.key.source == key,
                decode.source != newest, !decode.name.origin.isRevalidation
            else { continue }
            if decode.pixels == nil { tearDown(other, .afresh) } else { decodes.close(other) }
        }
    }
}
