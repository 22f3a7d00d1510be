import ImageModel
import Messages

// What is stored is still the same, and the origin may say anew who may keep it (RFC 9111 §4.3.4).
// Where nobody may any more, it is removed as if other bytes had come; the reply is the same.
extension Deriver {
    /// The origin says that nothing changed, and sent no body.
    mutating func notModified(_ node: SourceNode.ID, _ answer: ImageError) {
        let control = CacheControl(answer.details["cacheControl"])
        let role = sources[node].name.origin.terms?.role
        if role?.mayKeep(control) == false { removeKept(of: node) }
        if sources.contains(node) { confirm(node) { _ in true } }
    }

    /// Ends the refreshes of images whose marks are meant: nothing changed. An overlay has to be
    /// loaded all the same.
    mutating func confirm(_ node: SourceNode.ID, where isMeant: (BodyMark) -> Bool) {
        for decode in sources[node].consumers.members {
            let name = decodes[decode].name
            guard !name.key.isOverlay, let mark = name.origin.mark, isMeant(mark) else { continue }
            tearDown(decode, .unmodified)
        }
    }

    /// Removes what those have who wait for the source, on every tier, and begins again what others
    /// make of it; the node is gone where only they waited for it. An older refresh removes
    /// nothing.
    mutating func removeKept(of node: SourceNode.ID) {
        guard !sources[node].freshness.isOutdated else { return }
        let texts = keptTexts(of: node)
        outdateOthers(of: node)
        for text in texts.sorted() { removeOutdated(text, exceptIn: .none) }
    }

    /// Under which texts originals and results are stored of which those know who wait.
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
