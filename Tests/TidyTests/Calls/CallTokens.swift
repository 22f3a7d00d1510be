/// The tokens of Swift code, detailed enough to recognize declarations and calls.
struct CallToken: Equatable {
    let text: String
    /// Whether no whitespace separates it from the previous token.
    let isAttached: Bool

    var isWord: Bool { text.first.map { $0.isLetter || $0 == "_" } ?? false }

    /// The tokens of code without comments and literals.
    static func all(of code: [String]) -> [CallToken] {
        var tokens: [CallToken] = []
        for line in code {
            var rest = line[...]
            var isAttached = false
            while let first = rest.first {
                let word = rest.prefix { $0.isLetter || $0.isNumber || $0 == "_" }
                let text = word.isEmpty ? rest.prefix(1) : word
                rest = rest.dropFirst(text.count)
                if first == " " {
                    isAttached = false
                    continue
                }
                tokens.append(CallToken(text: String(text), isAttached: isAttached))
                isAttached = true
            }
        }
        return tokens
    }
}
