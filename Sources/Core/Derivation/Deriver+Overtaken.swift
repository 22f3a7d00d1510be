import ImageModel
import Messages
import Tables

// Queries that are under way while something is stored or replaced under their key.
extension Deriver {
    /// A key was stored. Queries of it that are under way may have come too early: their miss must
    /// not lead to a second transfer.
    mutating func overtakeQueries(of text: String, _ source: SourceKey) {
        guard !layout.isEmpty else { return overtake(text, source) }
        for related in layout.related(toStored: text) { overtake(related, source) }
    }

    private mutating func overtake(_ text: String, _ source: SourceKey) {
        tell(.overtaken(text))
        for node in lookups.all(under: text) { lookups[node].overtake() }
        for node in sources.all(under: source) where sources[node].queriedText == text {
            sources[node].freshness.isOvertaken = true
        }
    }

    /// A result was replaced: queries of it that are under way may bring the old one.
    mutating func outdateQueries(of text: String) {
        guard !layout.isEmpty else { return outdateLookups(of: text) }
        for related in layout.related(toStored: text) { outdateLookups(of: related) }
    }

    private mutating func outdateLookups(of text: String) {
        for node in lookups.all(under: text) { lookups[node].outdate() }
    }
}
