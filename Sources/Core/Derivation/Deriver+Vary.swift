package import ImageModel
import Messages

// Answers that depend on request headers are kept by their values (SEMANTICS §5.10; RFC 9111 §4.1).
extension Deriver {
    /// A body came: what it depends on is where it is kept, and where others look for it from now
    /// on, unless its origin lets nobody keep it. Who waits for one source sent the same headers,
    /// on the same terms.
    mutating func learnVariance(_ node: SourceNode.ID, _ body: FetchedBody) {
        let mayKeep = sources[node].name.origin.terms?.mayKeep(body) ?? true
        switch Variance(body.vary) {
        case _ where !mayKeep: sources[node].keep(.nowhere)
        case .none: sources[node].keep(.variant(nil))
        case .fields(let fields):
            let variant = variant(of: sources[node].name.key, fields)
            sources[node].keep(.variant(variant), fields: fields)
        case .everything: sources[node].keep(.nowhere)
        }
        for text in sources[node].storing.originals.texts { teachVariance(of: node, text) }
    }

    /// What is known of a body holds for every text under which somebody wants it kept. It is known
    /// by text and not by URL, so that all who share a text look in one place, whatever URL they
    /// ask, and no identity moves the place of another one's entries.
    mutating func teachVariance(of node: SourceNode.ID, _ plain: String) {
        guard sources[node].keeping != .asNamed else { return }
        tell(.varies(plain, sources[node].fields))
    }

    /// The digest of what the fields are in a request. Their names are in it: a field that is not
    /// there is another one than a field that nobody asked about.
    package func variant(of key: SourceKey, _ fields: [String]) -> String {
        let names = HTTPHeader(name: "vary", value: fields.joined(separator: ","))
        return variantDigest([names] + key.headers.filter { fields.contains($0.name) })
    }
}
