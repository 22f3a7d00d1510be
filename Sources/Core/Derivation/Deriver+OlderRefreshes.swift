import Dispatching
import ImageModel
import Messages
import Tables

// Two refreshes of one image may be under way. What the transfer that began last brings is kept,
// whichever ends first. The older refresh answers its waiters. It stores, removes and outdates
// nothing.
extension Deriver {
    /// Removes the entries that older refreshes would have replaced, except those that the newest
    /// one replaces itself.
    mutating func outdateOlderRefreshes(than newest: SourceNode.ID, of key: SourceKey) {
        guard let began = sources[newest].freshness.began else { return }
        let older = olderRefreshes(of: key, before: began)
        let outdated = outdatedResults(of: key, at: older, before: began)
        let encodings = transcodes.ids.filter {
            transcodes[$0].material.key == key && transcodes[$0].material.began.isBefore(began)
        }
        removeOutdated(by: newest, outdated, at: older, encodings)
        for node in older {
            closeRefreshes(at: node)
            sources[node].freshness.outdate()
            endStores(of: node)
        }
        for node in decodes.ids
        where decodes[node].name.key.source == key
            && decodes[node].provenance.began.isBefore(began)
        {
            decodes[node].provenance.isOutdated = true
        }
        end(encodings)
        for node in outdated where results.contains(node) { outdate(node) }
        for node in older { tidy(node) }
    }

    private func olderRefreshes(of key: SourceKey, before began: TransferSerial)
        -> [SourceNode.ID]
    {
        sources.all(under: key).filter { node in
            sources[node].freshness.began.isBefore(began) && !sources[node].freshness.isOutdated
                && isRefreshed(node)
        }
    }

    private func outdatedResults(
        of key: SourceKey, at older: [SourceNode.ID], before began: TransferSerial
    ) -> [ResultNode.ID] {
        results.ids.filter { isOutdated(results[$0], of: key, at: older, before: began) }
    }

    /// Whether a result is made, or will be, of what an older refresh brought.
    private func isOutdated(
        _ result: ResultNode, of key: SourceKey, at older: [SourceNode.ID],
        before began: TransferSerial
    ) -> Bool {
        guard result.name.key.decode.source == key, result.name.origin.isRevalidation,
            !result.provenance.isOutdated
        else { return false }
        return result.provenance.began.isBefore(began)
            || result.source.map { older.contains($0) } ?? false
    }

    /// A delivery that would also store is begun anew without the store. A result without waiters
    /// is dropped.
    mutating func outdate(_ node: ResultNode.ID) {
        guard results[node].provenance.began != nil else { return }
        results[node].outdate()
        guard let product = results[node].product, let job = results[node].job else { return }
        if results[node].consumers.isEmpty { return retire(node) }
        abandon(job)
        deliver(node, product)
    }

    /// What serializers make of older bytes is not kept. The entries that it was to replace were
    /// removed already.
    private mutating func end(_ encodings: [TranscodeNode.ID]) {
        for id in encodings where transcodes.contains(id) {
            transcodes[id].replaces = false
            endTranscode(id)
        }
    }

    /// Results of the newest bytes stay, and so does what is being stored of them.
    private mutating func removeOutdated(
        by newest: SourceNode.ID, _ outdated: [ResultNode.ID], at older: [SourceNode.ID],
        _ encodings: [TranscodeNode.ID]
    ) {
        let mark = sources[newest].body?.mark
        var done = Set(sources[newest].storing.originals.texts.map(sources[newest].text(of:)))
        for node in results.ids where results[node].source == newest && results[node].exists {
            done.insert(results[node].text)
        }
        let made = outdated.filter { node in
            mark.flatMap { results[node].name.origin.mark?.names($0) } != true
        }
        let texts =
            made.map { results[$0].text }
            + encodings.filter { transcodes[$0].replaces }.map { transcodes[$0].entry.text }
            + older.flatMap { node in
                sources[node].storing.originals.texts.map(sources[node].text(of:))
            }
        for text in texts where done.insert(text).inserted { removeOutdated(text, exceptIn: .none) }
    }
}
