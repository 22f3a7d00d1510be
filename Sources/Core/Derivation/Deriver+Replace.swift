import Dispatching
import ImageModel
import Messages

// What a refresh brought takes the place of everything that is older.
extension Deriver {
    /// The new bytes are an image, or the cache has them now: whatever is being made of older ones
    /// is begun again, under whatever text, so that it is not stored after what replaced it. Older
    /// refreshes go on: begun again, those of an image that changes with each answer would restart
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

    /// Whether a refresh has a part in the source, or had.
    func isRefreshed(_ node: SourceNode.ID) -> Bool {
        sources[node].name.origin.isRevalidation || sources[node].freshness.isChanged
            || isRefresh(node)
    }

    /// The original is not kept, although nothing is wrong with it.
    mutating func endStores(of node: SourceNode.ID) {
        for job in sources[node].storing.jobs.map(\.job) {
            abandon(job)
            sources[node].storing.ended(job, tiers: .none)
        }
    }

    /// Overlays that are still on their way are loaded anew, or the older bytes would be stored
    /// once they are there. Who has pixels keeps them, since which version they are of is in no
    /// key.
    private mutating func restartOverlays(of key: SourceKey, exceptOf newest: SourceNode.ID) {
        for other in decodes.ids where decodes.contains(other) {
            let decode = decodes[other]
            guard decode.name.key.isOverlay, decode.name.key.source == key,
                decode.source != newest, !decode.name.origin.isRevalidation
            else { continue }
            if decode.pixels == nil { tearDown(other, .afresh) } else { close(other) }
        }
    }

    /// The new bytes are an image: under texts for which nobody has them stored, the older original
    /// goes.
    mutating func removeUnreplacedOriginals(of node: SourceNode.ID, under text: String? = nil) {
        for (plain, tiers) in sources[node].storing.originals.wanted where text ?? plain == plain {
            removeOutdated(
                sources[node].text(of: plain),
                exceptIn: sources[node].keeping == .nowhere ? .none : tiers)
        }
    }

    /// What a refresh found outdated, and nothing but stores in these tiers takes the place of, is
    /// removed: nobody is to be served it later. A store for the disk alone does that in memory by
    /// itself, so that no tier has another value of the key.
    mutating func removeOutdated(_ text: String, exceptIn tiers: CacheTypes) {
        guard !tiers.contains(.disk) else { return }
        let work = EntryWork(action: .remove, key: text, tiers: CacheTypes.all.subtracting(tiers))
        // Before stores of this event: what is removed while it is stored is not kept.
        _ = submit(
            .entry(work), for: .removal(work, isRepeated: false), reading: nil, .unbounded(.high))
    }
}
