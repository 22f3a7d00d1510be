import Dispatching
import ImageModel
import Messages
import Tables

// An operator removes entries. What is under way for the bytes that they hold begins anew, behind
// the removal, so that the old bytes are not stored after it (SEMANTICS §5.7).
extension Deriver {
    /// To be called once the removal is queued: what its waiters ask from now on comes behind it.
    mutating func beginAfresh(after work: EntryWork) {
        for id in encodings(concernedBy: work) where transcodes.contains(id) { endTranscode(id) }
        // Where the disk keeps its entries, nobody said that the bytes are wrong.
        guard work.tiers.contains(.disk) else { return }
        let layout = layout
        endTails { Self.means(work, $0, tags: $1, in: layout) }
        let concerned = sources(concernedBy: work)
        restartOverlays(of: concerned)
        for node in results.ids where results.contains(node) {
            let isMade = results[node].source.map { concerned.contains($0) } ?? false
            if isMade || concerns(work, results[node]) { beginAfresh(node) }
        }
        for node in concerned where sources.contains(node) { giveUp(node) }
        for node in lookups.ids where means(work, lookups[node].query.key, tags: nil) {
            lookups[node].outdate()
        }
        for node in validities.ids where means(work, validities[node].key.text, tags: nil) {
            validities[node].outdate()
        }
    }

    private func encodings(concernedBy work: EntryWork) -> [TranscodeNode.ID] {
        transcodes.ids.filter { concerns(work, transcodes[$0]) }
    }

    private func sources(concernedBy work: EntryWork) -> Set<SourceNode.ID> {
        Set(sources.ids.filter { concerns(work, $0) })
    }

    /// Waiters that have an image already go on waiting for what the origin says: its answer is
    /// delivered, and stored nowhere.
    private mutating func beginAfresh(_ node: ResultNode.ID) {
        if results[node].name.origin.isRevalidation { return outdate(node) }
        tearDown(node, .afresh)
    }

    /// Nobody joins the source any more, and its original is not stored.
    private mutating func giveUp(_ node: SourceNode.ID) {
        sources[node].freshness.outdate()
        closeRefreshes(at: node)
        for decode in sources[node].consumers.members {
            decodes[decode].provenance.isOutdated = true
        }
        endStores(of: node)
        tidy(node)
    }

    /// Overlays that are still on their way are loaded anew. Consumers that have pixels keep them,
    /// since no key says which version of an overlay they are of.
    private mutating func restartOverlays(of concerned: Set<SourceNode.ID>) {
        for node in decodes.ids where decodes.contains(node) {
            guard decodes[node].name.key.isOverlay,
                decodes[node].source.map({ concerned.contains($0) }) ?? false
            else { continue }
            if decodes[node].pixels == nil {
                tearDown(node, .afresh)
            } else {
                decodes.close(node)
            }
        }
    }

    /// Whether the bytes of a source may be those of an entry that is removed. A source that the
    /// cache gives may be of any age.
    private func concerns(_ work: EntryWork, _ node: SourceNode.ID) -> Bool {
        let source = sources[node]
        let tags = source.knownTags
        if let queried = source.queriedText {
            return means(work, queried, tags: tags, ofAnyAge: true)
        }
        return means(work, source.text(of: source.plainText), tags: tags)
            || source.storing.originals.texts.contains {
                means(work, source.text(of: $0), tags: tags)
            }
    }

    /// Whether a result is removed, or made of what is. Its source may be gone by now.
    private func concerns(_ work: EntryWork, _ result: ResultNode) -> Bool {
        var isOfAnyAge = false
        if case .cache = result.name.origin { isOfAnyAge = true }
        let names = result.order.names
        let tags = CacheTag.union(result.policy.tags, result.provenance.tags)
        return [result.text, names.original, names.plainOriginal].contains {
            means(work, $0, tags: tags, ofAnyAge: isOfAnyAge)
        }
    }

    private func concerns(_ work: EntryWork, _ transcode: TranscodeNode) -> Bool {
        guard !transcode.entry.tiers.isDisjoint(with: work.tiers) else { return false }
        let tags = transcode.entry.metadata.tags
        if means(work, transcode.entry.text, tags: tags, ofAnyAge: true) { return true }
        return transcode.material.source.map { sources.contains($0) && concerns(work, $0) } ?? false
    }

    /// Whether an entry is removed that a text names, in one of its caches.
    private func means(
        _ work: EntryWork, _ text: String, tags: [String]?, ofAnyAge: Bool = false
    ) -> Bool {
        Self.means(work, text, tags: tags, ofAnyAge: ofAnyAge, in: layout)
    }

    private static func means(
        _ work: EntryWork, _ text: String, tags: [String]?, ofAnyAge: Bool = false,
        in layout: CacheLayout
    ) -> Bool {
        guard !layout.isEmpty else { return work.means(text, tags: tags, ofAnyAge: ofAnyAge) }
        return layout.texts(ofStored: text).contains {
            work.means($0, tags: tags, ofAnyAge: ofAnyAge)
        }
    }
}

extension EntryWork {
    /// Whether the entry of a text is removed. What is stored only now is no old one, unless it is
    /// made of what was stored before. Tags that are not known yet may be any.
    func means(_ text: String, tags: [String]?, ofAnyAge: Bool = false) -> Bool {
        switch action {
        case .remove: text == key || !caches.isEmpty && keys.contains(text)
        case .clear: true
        case .removeSelected:
            (ofAnyAge || selection.olderThanSeconds ?? 0 == 0)
                && selection.matches(text, tags: tags)
        case .contains, .list, .count, .trim, .renew: false
        }
    }
}
