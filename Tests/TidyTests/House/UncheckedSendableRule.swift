/// `@unchecked Sendable` is a promise to the compiler; its proof is required directly above it.
enum UncheckedSendableRule {
    static func findings(_ source: SourceText) -> [Finding] {
        guard source.mentions("@unchecked Sendable") else { return [] }
        return source.code.indices.filter { source.code[$0].contains("@unchecked Sendable") }
            .filter { !hasComment(above: $0, in: source) }
            .map { source.finding(at: $0, "@unchecked Sendable", "prove it in the line above") }
    }

    /// The declaration may begin some lines above, and may have attributes.
    private static func hasComment(above index: Int, in source: SourceText) -> Bool {
        var line = index - 1
        while line >= 0 {
            let text = source.lines[line].trimmed
            if text.hasPrefix("//") || text.hasSuffix("*/") { return true }
            if text.isEmpty || text.hasSuffix("{") || text.hasSuffix("}") { return false }
            line -= 1
        }
        return false
    }
}
