/// The words and marks of Swift code, enough of them to see declarations and calls.
struct CallToken: Equatable {
    let text: String
    /// Whether nothing stands between it and the token before.
    let isAttached: Bool

    var isWord: Bool { text.first.map { $0.isLetter || $0 == "_" } ?? false }

    /// Of code without comments and literals.
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
