import TestKit

/// Rules about the promises of `SECURITY.md`: each is a row of a table, with tests that exist.
///
/// The last column of every table there is `tests`. A table of measured values may have any other
/// columns before it; a column `promise`, if it is the first, holds one sentence.
enum PromiseRules {
    static let heading = "## Promises and their tests"

    /// `hasTest` returns whether a suite has a test of that name.
    static func findings(
        _ document: SourceText, hasTest: (_ suite: String, _ test: String) -> Bool
    ) -> [Finding] {
        var findings: [Finding] = []
        var isPromise = false
        for index in section(of: document) {
            let line = document.lines[index]
            if isHead(line) { isPromise = line.hasPrefix("| promise |") }
            for rule in faults(of: line, isPromise, hasTest) {
                findings.append(document.finding(at: index, rule, remedy))
            }
        }
        return findings
    }

    /// The number of rows with a promise.
    static func rowCount(of document: SourceText) -> Int {
        section(of: document).count { isRow(document.lines[$0]) }
    }

    private static let remedy = "write one promise a row, | promise | `Suite.test`, … |"

    /// The lines from the first heading within the section to the end of the section; an
    /// explanation of the tables may precede them.
    private static func section(of document: SourceText) -> Range<Int> {
        let lines = document.lines
        guard let start = lines.firstIndex(of: heading) else { return 0..<0 }
        let end = lines[(start + 1)...].firstIndex { $0.hasPrefix("## ") } ?? lines.endIndex
        let first = lines[start..<end].firstIndex { $0.hasPrefix("### ") } ?? end
        return first..<end
    }

    private static func isRow(_ line: String) -> Bool {
        line.hasPrefix("|") && !line.hasPrefix("|---") && !isHead(line)
    }

    private static func isHead(_ line: String) -> Bool {
        line.hasSuffix("| tests |")
    }

    private static func faults(
        of line: String, _ isPromise: Bool,
        _ hasTest: (_ suite: String, _ test: String) -> Bool
    ) -> [String] {
        if line.isEmpty || line.hasPrefix("### ") { return [] }
        guard line.hasPrefix("|") else { return ["a promise outside of the tables"] }
        guard isRow(line) else { return [] }
        let cells = line.split(separator: "|").map(\.trimmed)
        let names = WebDocument.spans(in: cells.last ?? "")
        var faults = names.filter { !isTest($0, hasTest) }.map { "there is no test \($0)" }
        if names.isEmpty { faults.append("a promise without a test") }
        if isPromise, !isOneSentence(cells[0]) { faults.append("not one sentence") }
        return faults
    }

    private static func isTest(
        _ name: String, _ hasTest: (_ suite: String, _ test: String) -> Bool
    ) -> Bool {
        let parts = name.split(separator: ".").map(String.init)
        return parts.count == 2 && hasTest(parts[0], parts[1])
    }

    private static func isOneSentence(_ text: String) -> Bool {
        guard text.hasSuffix(".") else { return false }
        return text.ranges(of: ". ").allSatisfy {
            text[$0.upperBound...].first?.isUppercase != true
        }
    }
}
