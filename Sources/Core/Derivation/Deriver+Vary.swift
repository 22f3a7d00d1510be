package import ImageModel
import Messages

// Answers that depend on request headers are kept by their values (SEMANTICS §5.10; RFC 9111 §4.1).
extension Deriver {
    /// A body came. The headers that it depends on say where it is kept, and where it is looked for
    /// from now on, unless its origin lets nobody keep it. All waiters of one source sent the same
    /// headers, on the same terms.
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
    /// by text and not by URL. So all requests that share a text look in one place, whatever URL
    /// they ask for, and no identity moves another one's entries.
    mutating func teachVariance(of node: SourceNode.ID, _ plain: String) {
        guard sources[node].keeping != .asNamed else { return }
        tell(.varies(plain, sources[node].fields))
    }

    /// The digest of what the fields are in a request. Their names are in it: an absent field
    /// differs from a field that the origin does not depend on.
    package func variant(of key: SourceKey, _ fields: [String]) -> String {
        let names = HTTPHeader(name: "vary", value: fields.joined(separator: ","))
        return variantDigest([names] + key.headers.filter { fields.contains($0.name) })
    }
}
