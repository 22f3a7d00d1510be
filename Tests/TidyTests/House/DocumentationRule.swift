/// Every `public` declaration has a doc comment directly above it, or above its attributes.
enum DocumentationRule {
    private static let modifiers: Set<String> = [
        "static", "final", "indirect", "nonisolated", "mutating", "consuming", "borrowing", "lazy",
        "weak", "unowned", "unsafe", "convenience", "required", "public", "open",
    ]

    static func findings(_ source: SourceText) -> [Finding] {
        guard source.mentions("public") || source.mentions("open") else { return [] }
        return source.code.indices.filter { isPublicDeclaration(source.code[$0]) }
            .filter { !hasDocumentation(above: $0, in: source) }
            .map {
                source.finding(
                    at: $0, "public without a doc comment", "say what it is, its limits and errors")
            }
    }

    private static func isPublicDeclaration(_ code: String) -> Bool {
        let words = withoutAttributes(code.trimmed).split(separator: " ").map(String.init)
        let leading = words.prefix { modifiers.contains($0.prefixUpToParenthesis) }
        guard leading.contains("public") || leading.contains("open") else { return false }
        let keyword = leading.count < words.count ? words[leading.count] : ""
        return keyword != "import" && keyword != "extension" && keyword != "override"
    }

    private static func hasDocumentation(above index: Int, in source: SourceText) -> Bool {
        var line = index - 1
        while line >= 0 {
            let text = source.lines[line].trimmed
            if text.hasPrefix("///") || text.hasSuffix("*/") { return true }
            guard text.hasPrefix("@") || text.hasPrefix("#if") else { return false }
            line -= 1
        }
        return false
    }

    private static func withoutAttributes(_ code: String) -> String {
        var rest = Substring(code)
        while rest.first == "@" {
            rest = rest.drop { $0 != " " && $0 != "(" }
            if rest.first == "(" { rest = rest.drop { $0 != ")" }.dropFirst() }
            rest = rest.drop { $0 == " " }
        }
        return String(rest)
    }
}

extension String {
    /// `private(set)` is the modifier `private`.
    fileprivate var prefixUpToParenthesis: String { String(prefix { $0 != "(" }) }
}
