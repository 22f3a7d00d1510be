/// Something that must hold for every input did not.
public struct BrokenInvariant: Error, CustomStringConvertible, Sendable {
    /// The sentence that is not true.
    public let what: String

    /// The sentence.
    public var description: String { what }
}

/// Throws the sentence unless it is true.
func expect(_ isTrue: Bool, _ what: @autoclosure () -> String) throws(BrokenInvariant) {
    guard isTrue else { throw BrokenInvariant(what: what()) }
}
