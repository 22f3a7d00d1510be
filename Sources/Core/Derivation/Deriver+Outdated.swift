import Dispatching
import ImageModel
import Messages

// Entries that a refresh found outdated, and that nothing takes the place of, are removed.
extension Deriver {
    /// What a refresh found outdated, and nothing but stores in these tiers takes the place of, is
    /// removed: nobody is to be served it later. A store for the disk alone does that in memory by
    /// itself, so that no tier has another value of the key.
    mutating func removeOutdated(_ text: String, exceptIn tiers: CacheTypes) {
        guard !tiers.contains(.disk) else { return }
        let work = EntryWork(action: .remove, key: text, tiers: CacheTypes.all.subtracting(tiers))
        // Before stores of this event: what is removed while it is stored is not kept.
        remove(work, isRepeated: false)
    }

    /// A cache that could not remove what is outdated is asked once more. Where it cannot then
    /// either, it knows the key, and answers nobody from it.
    mutating func removeAgain(_ work: EntryWork) { remove(work, isRepeated: true) }

    private mutating func remove(_ work: EntryWork, isRepeated: Bool) {
        let purpose = JobPurpose.removal(work, isRepeated: isRepeated)
        _ = submit(.entry(work), for: purpose, reading: nil, .unbounded(.high))
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

    /// What a refresh found outdated, and no store of this result takes the place of, is removed.
    /// A serializer that is at work sees to that itself.
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
