/// What a function was given says nothing that it can do: a corrupt image, a parameter that is no
/// number. Of a coder the caller gets `badImageData`, of a transformer `stepFailed`, with the
/// sentence.
public struct InvalidInput: Error, Hashable, Sendable, CustomStringConvertible {
    /// What is wrong with it.
    public let description: String

    /// Takes a sentence, or the end of one: `it ends early`.
    public init(_ sentence: String) { description = sentence }
}
