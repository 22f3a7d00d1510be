import Nettle
package import WebGrammar

/// Who may send images to be worked on, and how large they may be.
package struct UploadSettings: Sendable {
    /// How the paths of such requests are read: as others, but that the token stands for the
    /// signature, and that their sources are of the scheme `scheme`.
    package let grammar: any URLGrammar
    /// Bytes of an image.
    package var bytesMax = 16 << 20
    /// Images that may be on their way here at a time.
    package var atOnce = 16
    private let digests: [[UInt8]]

    /// The scheme of the source that stands for the bytes of the request.
    package static let scheme = "upload"
    /// Bytes of a token, so that nobody guesses one.
    package static let tokenBytes = 16...1_024
    /// Tokens that are known at a time.
    package static let tokensMax = 16

    /// `nil` where there is no token, too many of them, or one that is too short or too long.
    package init?(tokens: [[UInt8]], _ grammar: any URLGrammar) {
        guard (1...Self.tokensMax).contains(tokens.count),
            tokens.allSatisfy({ Self.tokenBytes.contains($0.count) })
        else { return nil }
        digests = tokens.map { SHA256.digest($0.span.bytes) }
        self.grammar = grammar
    }

    /// Whether the field `Authorization` has one of the tokens (RFC 6750 §2.1). How long it takes
    /// says nothing of them: digests are compared, each of them, whole.
    package func permits(_ authorization: String?) -> Bool {
        let words = (authorization ?? "").split(separator: " ", maxSplits: 1)
        guard words.count == 2, words[0].lowercased() == "bearer" else { return false }
        let token = Array(words[1].trimmedOfBlanks.utf8)
        guard Self.tokenBytes.contains(token.count) else { return false }
        let digest = SHA256.digest(token.span.bytes)
        return digests.reduce(false) { SecretBytes.areEqual($1, digest) || $0 }
    }
}
