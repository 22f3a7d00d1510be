/// The tables of `Proto/WEB.md`.
public struct WebDocument {
    /// A row of a table of options.
    public struct Row: Sendable, CustomStringConvertible {
        /// The names in backticks in the first column.
        public let names: [String]
        /// A path component that sets the option.
        public let example: String
        /// The names of the steps that the option becomes; empty if none.
        public let steps: [String]
        /// Path components that are rejected.
        public let refused: [String]

        /// The names, separated by spaces.
        public var description: String { names.joined(separator: " ") }
    }

    private static let lines = (FileBytes.text(RepositoryRoot.file("Proto/WEB.md")) ?? "")
        .split(separator: "\n", omittingEmptySubsequences: false).map(String.init)

    /// The rows of the table in section `section` whose first column is headed `name`.
    public static func rows(of section: Int, headed name: String) -> [Row] {
        let start = lines.firstIndex { $0.hasPrefix("## \(section) ") } ?? lines.endIndex
        let ruled = lines[start...].drop { !$0.hasPrefix("| \(name) |") }
        return ruled.dropFirst(2).prefix { $0.hasPrefix("|") }.map { line in
            let cells = line.split(separator: "|", omittingEmptySubsequences: false).map(
                String.init)
            return Row(
                names: spans(in: cells[1]), example: spans(in: cells[2]).joined(),
                steps: spans(in: cells[3]), refused: spans(in: cells[5]))
        }
    }

    /// The names in backticks in the paragraph of section `section` that begins with `start`.
    public static func names(of section: Int, behind start: String) -> Set<String> {
        let place = lines.firstIndex { $0.hasPrefix("## \(section) ") } ?? lines.endIndex
        let paragraph = lines[place...].drop { !$0.hasPrefix(start) }.prefix { !$0.isEmpty }
        return Set(spans(in: paragraph.joined(separator: " ")))
    }

    /// The spans of text in backticks.
    public static func spans(in text: String) -> [String] {
        let parts = text.split(separator: "`", omittingEmptySubsequences: false)
        return parts.indices.filter { $0 % 2 == 1 }.map { String(parts[$0]) }
    }
}
