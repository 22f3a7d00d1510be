import ImageModel
import Messages

// The origin says that the stored bytes are still the newest. Its answer may also say anew who may
// keep them (RFC 9111 §4.3.4). Where nobody may any more, they are removed as if other bytes had
// come. The reply is the same.
extension Deriver {
    /// The origin says that nothing changed, and sent no body.
    mutating func notModified(_ node: SourceNode.ID, _ answer: ImageError) {
        let control = answer.confirmedControl
        let role = sources[node].name.origin.terms?.role
        if role?.mayKeep(control) == false {
            removeKept(of: node)
        } else {
            tellConfirmed(node, answer)
        }
        if sources.contains(node) { confirm(node) { _ in true } }
    }

    /// Nothing changed: ends the refreshes of images with such marks. An overlay has to be loaded
    /// all the same.
    mutating func confirm(_ node: SourceNode.ID, where isMeant: (BodyMark) -> Bool) {
        for decode in sources[node].consumers.members {
            let name = decodes[decode].name
            guard !name.key.isOverlay, let mark = name.origin.mark, isMeant(mark) else { continue }
            tearDown(decode, .unmodified)
        }
    }

    /// Removes the images of the source's waiters from every tier, and begins again all other work
    /// on these bytes. The node is gone afterwards, unless others wait for it. An older refresh
    /// removes nothing.
    mutating func removeKept(of node: SourceNode.ID) {
        guard !sources[node].freshness.isOutdated else { return }
        let texts = keptTexts(of: node)
        outdateOthers(of: node)
        for text in texts.sorted() { removeOutdated(text, exceptIn: .none) }
    }

    /// The texts under which the originals and results of the source's waiters are stored.
    private func keptTexts(of node: SourceNode.ID) -> Set<String> {
        var texts = Set(sources[node].storing.originals.texts)
        for decode in sources[node].consumers.members {
            for result in decodes[decode].results {
                texts.insert(results[result].order.names.result)
                texts.insert(results[result].order.names.original)
            }
        }
        return texts
    }
}
