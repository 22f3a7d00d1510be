import Dispatching
import ImageModel
import Messages

// Removal of entries that a refresh found outdated and that nothing replaces.
extension Deriver {
    /// Removes an outdated entry from all tiers but these, where a store replaces it: nobody is to
    /// be served it later. A store for the disk alone removes the entry in memory by itself, so
    /// that all tiers agree about the key.
    ///
    /// Of several caches under one name, those that the store does not reach lose it altogether.
    mutating func removeOutdated(_ text: String, exceptIn tiers: CacheTypes) {
        if layout.composite(ofStored: text) != nil {
            for work in layout.removals(ofOutdated: text, exceptIn: tiers) {
                remove(work, isRepeated: false)
            }
            return
        }
        guard !tiers.contains(.disk) || layout.isForeign(text) else { return }
        let rest = layout.isForeign(text) ? CacheTypes.all : CacheTypes.all.subtracting(tiers)
        let work = EntryWork(action: .remove, key: text, tiers: rest)
        // The removal comes before the stores of this event: an entry that is removed while it is
        // stored is not kept.
        remove(work, isRepeated: false)
    }

    /// A cache that could not remove an outdated entry is asked once more. Where it fails again, it
    /// knows the key, and answers nobody from it.
    mutating func removeAgain(_ work: EntryWork) { remove(work, isRepeated: true) }

    private mutating func remove(_ work: EntryWork, isRepeated: Bool) {
        // What is on its way to caches of others under the same texts is older.
        let texts = [work.key] + work.caches.map { CacheKey.moved(work.key, to: $0) }
        endTails { text, _ in texts.contains(text) }
        let purpose = JobPurpose.removal(work, isRepeated: isRepeated)
        _ = submit(.entry(work), for: purpose, reading: nil, .unbounded(.high))
    }

    /// The new bytes are an image. Under texts for which nobody has them stored, the older original
    /// is removed.
    mutating func removeUnreplacedOriginals(of node: SourceNode.ID, under text: String? = nil) {
        for (plain, tiers) in sources[node].storing.originals.wanted where text ?? plain == plain {
            removeOutdated(
                sources[node].text(of: plain),
                exceptIn: sources[node].keeping == .nowhere ? .none : tiers)
        }
    }

    /// Removes the outdated entries that no store of this result replaces. A serializer that is at
    /// work does so itself.
    mutating func removeOutdatedResult(of node: ResultNode.ID) {
        let result = results[node]
        guard result.name.origin.isRevalidation, !result.provenance.isOutdated else { return }
        if result.provenance.keeping == .nowhere {
            removeOutdated(result.order.names.result, exceptIn: .none)
        } else if result.transcode == nil, result.transcoded.isEmpty {
            removeOutdated(result.text, exceptIn: result.plainTiers)
        }
    }
}
