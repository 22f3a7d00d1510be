import ImageModel

/// A source on the blacklist of a profile; each profile has its own.
struct ScopedSource: Hashable, Sendable {
    /// `LoadTerms.scope`.
    let scope: String
    let source: SourceKey

    init(_ source: SourceKey, _ terms: LoadTerms) {
        scope = terms.scope
        self.source = source
    }
}
