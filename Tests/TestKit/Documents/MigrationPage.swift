/// The tables of a page below `Proto/Migration`.
public struct MigrationPage {
    /// What is theirs, and what is ours in its place.
    public struct Row: Sendable, CustomStringConvertible {
        /// What stands between backticks in the first column.
        public let names: [String]
        /// Where the table has three columns.
        public let example: String?
        /// Our counterpart, or why there is none.
        public let ours: String

        /// Whether nothing is in its place; then the row says why.
        public var isAbsent: Bool { ours.hasPrefix("none, because ") }
        /// Its names.
        public var description: String { names.joined(separator: " ") }
    }

    /// The page.
    public let text: String

    /// The page of that server.
    public init(_ name: String) {
        text = FileBytes.text(RepositoryRoot.file("Proto/Migration/\(name).md")) ?? ""
    }

    /// The rows of the table below a heading.
    public func rows(below heading: String) -> [Row] {
        let lines = text.split(separator: "\n", omittingEmptySubsequences: false)
        let table = lines.drop { $0 != "## \(heading)" }.drop { !$0.hasPrefix("|") }
        return table.prefix { $0.hasPrefix("|") }.dropFirst(2).map { line in
            let cells = line.split(separator: "|").map(String.init)
            let example = cells.count > 2 ? WebDocument.spans(in: cells[1]).joined() : nil
            return Row(
                names: WebDocument.spans(in: cells[0]), example: example,
                ours: String((cells.last ?? "").drop { $0 == " " }))
        }
    }

    /// The flags that it names, without their dashes.
    public var flags: Set<String> {
        Set(text.matches(of: /--([a-z-]+)/).map { String($0.output.1) })
    }
}
