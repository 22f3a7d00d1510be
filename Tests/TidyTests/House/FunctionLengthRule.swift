/// A function is at most 60 lines, from its `func`, `init`, `deinit` or `subscript` to its brace.
enum FunctionLengthRule {
    static let linesMax = 60

    private static let starts: Set<String> = ["func", "init", "deinit", "subscript"]
    private static let bodiless: Set<String> = [
        "func", "init", "deinit", "subscript", "var", "let", "case", "struct", "enum", "class",
        "associatedtype", "typealias", "protocol", "extension",
    ]

    static func findings(_ source: SourceText) -> [Finding] {
        guard source.lines.count > linesMax else { return [] }
        let tokens = tokens(of: source.code)
        return tokens.indices.compactMap { index in
            guard isStart(tokens, at: index), let end = end(of: index, in: tokens) else {
                return nil
            }
            let length = tokens[end].line - tokens[index].line + 1
            guard length > linesMax else { return nil }
            return source.finding(
                at: tokens[index].line, "function of \(length) lines",
                "take its steps apart; at most \(linesMax) lines")
        }
    }

    private struct Token {
        let text: Substring
        let line: Int
    }

    /// Words, and single characters that matter.
    private static func tokens(of code: [String]) -> [Token] {
        var tokens: [Token] = []
        for (line, text) in code.enumerated() {
            var rest = text[...]
            while let first = rest.first {
                let word = rest.prefix { $0.isLetter || $0.isNumber || $0 == "_" }
                if !word.isEmpty { tokens.append(Token(text: word, line: line)) }
                if word.isEmpty, "{}()[].".contains(first) {
                    tokens.append(Token(text: rest.prefix(1), line: line))
                }
                rest = rest.dropFirst(max(word.count, 1))
            }
        }
        return tokens
    }

    /// `.init(` and `self.init(` are calls.
    private static func isStart(_ tokens: [Token], at index: Int) -> Bool {
        starts.contains(String(tokens[index].text)) && (index == 0 || tokens[index - 1].text != ".")
    }

    /// The closing brace of the body, or nil if the declaration has none, as in a protocol.
    private static func end(of start: Int, in tokens: [Token]) -> Int? {
        var depth = 0
        var body: Int?
        for index in tokens.indices.dropFirst(start + 1) {
            switch tokens[index].text {
            case "(", "[": depth += 1
            case ")", "]": depth -= 1
            case "{":
                if body == nil, depth == 0 { body = 0 }
                depth += 1
            case "}":
                if depth == 0 { return nil }
                depth -= 1
                if body != nil, depth == 0 { return index }
            default:
                if body == nil, depth == 0, bodiless.contains(String(tokens[index].text)) {
                    return nil
                }
            }
        }
        return nil
    }
}
