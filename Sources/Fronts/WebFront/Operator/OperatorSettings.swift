package import WebGrammar

/// Who may have entries removed over HTTP, and how that is read.
package struct OperatorSettings: Sendable {
    /// Whoever shows one of them is an operator.
    package let tokens: BearerTokens
    /// How the paths of images are read: their signatures are not looked at.
    package let grammar: any URLGrammar
    /// What stands before the paths of images, and may be left out here; empty: nothing.
    package var pathPrefix = ""

    /// Bytes of the body of a request.
    package static let bodyBytesMax = 16 << 10

    /// For operators with these tokens.
    package init(_ tokens: BearerTokens, _ grammar: any URLGrammar) {
        (self.tokens, self.grammar) = (tokens, grammar)
    }
}
