package import WebGrammar

/// Who may send images to be worked on, and how large they may be.
package struct UploadSettings: Sendable {
    /// How the paths of such requests are read: as others, but that the token stands for the
    /// signature, and that their sources are of the scheme `scheme`.
    package let grammar: any URLGrammar
    /// Who may send any.
    package let tokens: BearerTokens
    /// Bytes of an image.
    package var bytesMax = 16 << 20
    /// Images that may be on their way here at a time.
    package var atOnce = 16

    /// The scheme of the source that stands for the bytes of the request.
    package static let scheme = "upload"

    /// For those who show one of the tokens.
    package init(tokens: BearerTokens, _ grammar: any URLGrammar) {
        (self.tokens, self.grammar) = (tokens, grammar)
    }

    /// Whether the field `Authorization` has one of the tokens.
    package func permits(_ authorization: String?) -> Bool { tokens.permits(authorization) }

    /// Which of the tokens it has, counted from 1; `nil`: none.
    package func number(of authorization: String?) -> Int? { tokens.number(of: authorization) }
}
