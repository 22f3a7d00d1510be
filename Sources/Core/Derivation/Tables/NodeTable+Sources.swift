import ImageModel
import Messages
import Tables

extension NodeTable<SourceNode> {
    /// The source of those bytes that is there, or on its way. The body of a refresh serves as well
    /// as a new transfer. It does not answer a refresh that begins later.
    func serving(_ name: Sourced<SourceKey>) -> ID? {
        let known = all(under: name.key).filter {
            self[$0].name.origin.terms == name.origin.terms && !self[$0].freshness.isClosed
        }
        let isPlain = name.origin.isNetwork
        if isPlain, let newest = known.first(where: { self[$0].isReplacing }) { return newest }
        let same = known.first {
            self[$0].name.origin == name.origin
                && !(name.origin.isRevalidation && self[$0].kept != nil)
        }
        if let same { return same }
        guard name.origin.isUnconditional else { return nil }
        return known.first {
            self[$0].name.origin.isUnconditional && (isPlain || self[$0].kept == nil)
        }
    }
}
