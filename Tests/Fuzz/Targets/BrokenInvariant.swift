/// A violated invariant.
public struct BrokenInvariant: Error, CustomStringConvertible, Sendable {
    /// The invariant, as a sentence.
    public let what: String

    /// The invariant, as a sentence.
    public var description: String { what }
}

/// Throws the sentence unless `isTrue`.
func expect(_ isTrue: Bool, _ what: @autoclosure () -> String) throws(BrokenInvariant) {
    guard isTrue else { throw BrokenInvariant(what: what()) }
}
