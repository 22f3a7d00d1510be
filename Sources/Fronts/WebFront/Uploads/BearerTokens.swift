import Nettle
import WebGrammar

/// Tokens that a request shows in its field `Authorization` (RFC 6750 §2.1).
package struct BearerTokens: Sendable {
    /// Bytes of a token, so that nobody guesses one.
    package static let tokenBytes = 16...1_024
    /// Tokens that are known at a time.
    package static let countMax = 16

    private let digests: [[UInt8]]

    /// `nil` where there is no token, too many of them, or one that is too short or too long.
    package init?(_ tokens: [[UInt8]]) {
        guard (1...Self.countMax).contains(tokens.count),
            tokens.allSatisfy({ Self.tokenBytes.contains($0.count) })
        else { return nil }
        digests = tokens.map { SHA256.digest($0.span.bytes) }
    }

    /// Those of a file: one a line; lines that begin with `#` are comments.
    package init?(file bytes: [UInt8]) {
        let lines = bytes.split(separator: UInt8(ascii: "\n")).map(Array.init)
        self.init(lines.filter { $0.first != UInt8(ascii: "#") })
    }

    /// What a file of tokens has to be, for errors.
    package static let expected =
        "a token a line, \(countMax) at most, each of \(tokenBytes.lowerBound) to "
        + "\(tokenBytes.upperBound) bytes"

    /// Whether the field `Authorization` has one of them.
    package func permits(_ authorization: String?) -> Bool { number(of: authorization) != nil }

    /// Which of them the field `Authorization` has, counted from 1; `nil`: none. How long it takes
    /// says nothing of them: digests are compared, each of them, whole.
    package func number(of authorization: String?) -> Int? {
        let words = (authorization ?? "").split(separator: " ", maxSplits: 1)
        guard words.count == 2, words[0].lowercased() == "bearer" else { return nil }
        let token = Array(words[1].trimmedOfBlanks.utf8)
        guard Self.tokenBytes.contains(token.count) else { return nil }
        let digest = SHA256.digest(token.span.bytes)
        return digests.indices.reduce(nil) { known, index in
            SecretBytes.areEqual(digests[index], digest) ? index + 1 : known
        }
    }
}
