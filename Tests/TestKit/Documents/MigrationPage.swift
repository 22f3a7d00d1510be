/// The tables of a page in `Proto/Migration`.
public struct MigrationPage {
    /// An option of the other server and its counterpart here.
    public struct Row: Sendable, CustomStringConvertible {
        /// The names in backticks in the first column.
        public let names: [String]
        /// The example; only tables of three columns have one.
        public let example: String?
        /// The counterpart in Imagebus, or why there is none.
        public let ours: String

        /// Whether there is no counterpart; the row then gives the reason.
        public var isAbsent: Bool { ours.hasPrefix("none, because ") }
        /// The names, separated by spaces.
        public var description: String { names.joined(separator: " ") }
    }

    /// The text of the page.
    public let text: String

    /// Reads the page of a server.
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

    /// The command-line flags that the page names, without their dashes.
    public var flags: Set<String> {
        Set(text.matches(of: /--([a-z-]+)/).map { String($0.output.1) })
    }
}
