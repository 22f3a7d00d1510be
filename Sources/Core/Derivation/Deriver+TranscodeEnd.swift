import Dispatching
package import ImageModel
import Messages
import Tables

// The end of what a serializer makes.
extension Deriver {
    /// It is not kept, although nothing may be wrong with it.
    mutating func endTranscode(_ id: TranscodeNode.ID) {
        if let source = endTranscode(id, storing: .none) { tidy(source) }
    }

    /// What is on its way to those tiers under that text is not kept, although nothing is wrong
    /// with it.
    package mutating func endTranscodes(of text: String, for tiers: CacheTypes) {
        endTranscodes { $0.entry.text == text && !$0.entry.tiers.isDisjoint(with: tiers) }
    }

    /// Those are not kept, although nothing is wrong with them.
    mutating func endTranscodes(where isMeant: (TranscodeNode) -> Bool) {
        for id in transcodes.ids where transcodes.contains(id) && isMeant(transcodes[id]) {
            endTranscode(id)
        }
    }

    /// It was stored in these tiers, or could not be: nothing is under the key then, and what is
    /// outdated does not stay there. Who waited is answered. The source of whose bytes it was made
    /// comes back: it may have stayed for this alone.
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

    /// Who waited is answered, or waits for the original then.
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
