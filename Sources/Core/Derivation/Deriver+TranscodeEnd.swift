import Dispatching
package import ImageModel
import Messages
import Tables

// The end of what a serializer makes.
extension Deriver {
    /// Drops one that is under way.
    mutating func endTranscode(_ id: TranscodeNode.ID) {
        if let source = endTranscode(id, storing: .none) { tidy(source) }
    }

    /// Drops all that are on their way to those tiers under that text.
    package mutating func endTranscodes(of text: String, for tiers: CacheTypes) {
        endTranscodes { $0.entry.text == text && !$0.entry.tiers.isDisjoint(with: tiers) }
    }

    /// Drops all that are meant.
    mutating func endTranscodes(where isMeant: (TranscodeNode) -> Bool) {
        for id in transcodes.ids where transcodes.contains(id) && isMeant(transcodes[id]) {
            endTranscode(id)
        }
    }

    /// It was stored in these tiers, or in none, where the store failed. Then an outdated entry
    /// under its key is removed. Its waiters are answered. Returns the source of its bytes, which
    /// may have stayed for this alone.
    mutating func endTranscode(_ id: TranscodeNode.ID, storing tiers: CacheTypes)
        -> SourceNode.ID?
    {
        guard let transcode = transcodes.remove(id) else { return nil }
        abandon(transcode.job)
        if transcode.replaces { removeOutdated(transcode.entry.text, exceptIn: tiers) }
        if !tiers.isEmpty {
            overtakeQueries(of: transcode.entry.text, transcode.material.key)
            if transcode.material.isRevalidation { outdateQueries(of: transcode.entry.text) }
        }
        if let result = transcode.result, results.contains(result) {
            results[result].transcode = nil
            results[result].transcoded = tiers
        }
        let source = transcode.keepsSource ? transcode.material.source : nil
        if let source {
            sources[source].storing.endedTranscode(tiers: tiers, as: transcode.material.plainText)
        }
        tellStored(transcode.watchers, in: tiers)
        return source
    }

    /// Each waiter is answered, or goes on to wait for the original.
    private mutating func tellStored(_ watchers: WatcherList, in tiers: CacheTypes) {
        for var watcher in watchers.members {
            watcher.stored.formUnion(tiers)
            if let place = awaitOriginal(watcher) {
                tell(.moved(watcher.id, place))
            } else {
                tell(.stored([Stored(id: watcher.id, tiers: watcher.stored)]))
            }
        }
    }
}
