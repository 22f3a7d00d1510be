import Glibc

/// One file as the rules see it: its lines, and the same lines reduced to code.
struct SourceText {
    let path: String
    let lines: [String]
    /// `lines` with comments and the contents of string literals blanked. For Swift files only; for
    /// all others the same as `lines`.
    let code: [String]
    private let text: String

    init(path: String, text: String) {
        self.path = path
        self.text = text
        lines = Self.split(text)
        code = path.hasSuffix(".swift") ? Self.split(CodeOnly.text(of: text)) : lines
    }

    /// Whether `word` occurs anywhere in the file; saves checking each line.
    func mentions(_ word: String) -> Bool { strstr(text, word) != nil }

    func finding(at index: Int, _ rule: String, _ remedy: String) -> Finding {
        Finding(file: path, line: index + 1, rule: rule, remedy: remedy)
    }

    private static func split(_ text: String) -> [String] {
        var lines = text.split(separator: "\n", omittingEmptySubsequences: false).map(String.init)
        if lines.last == "" { lines.removeLast() }
        return lines
    }
}

extension StringProtocol {
    /// The text without surrounding blanks.
    var trimmed: String {
        guard let first = firstIndex(where: { $0 != " " }),
            let last = lastIndex(where: { $0 != " " })
        else { return "" }
        return String(self[first...last])
    }
}
