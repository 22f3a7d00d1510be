import ImageModel

/// A source on the blacklist of a profile; each profile has one for loads that refuse damaged
/// images, and one for those that show them: what fails for the former may do for the latter.
struct ScopedSource: Hashable, Sendable {
    /// `LoadTerms.scope`.
    let scope: String
    let showsDamaged: Bool
    let source: SourceKey

    init(_ source: SourceKey, _ terms: LoadTerms) {
        (scope, showsDamaged) = (terms.scope, terms.showsDamaged)
        self.source = source
    }
}

/// An entry of the blacklist: a source of a profile, and what is not tried with it.
struct RefusedOperation: Hashable, Sendable {
    let source: ScopedSource
    let operation: SourceOperation
}
