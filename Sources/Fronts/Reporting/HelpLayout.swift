import Glibc

/// Arranges help in columns. Texts are single lines; a line break in them starts a new line.
package enum HelpLayout {
    /// The maximum width of help in columns.
    package static let columnsMax = 100
    /// The maximum width of a paragraph, for readability.
    package static let paragraphMax = 88
    /// A narrower terminal cuts the lines.
    private static let columnsMin = 40
    /// The maximum width of the column with the names of options; longer names have a line of
    /// their own.
    private static let namesMax = 30
    /// Below this width, every name has a line of its own, and descriptions are indented by this
    /// much.
    private static let narrow = (columns: 60, indent: 8)
    private static let gap = 2

    /// The width for standard output: that of the terminal, between 40 and 100 columns; 100 for
    /// anything else.
    package static var columns: Int {
        var size = winsize()
        guard isatty(1) == 1, ioctl(1, UInt(TIOCGWINSZ), &size) == 0, size.ws_col > 0 else {
            return columnsMax
        }
        return min(max(Int(size.ws_col), columnsMin), columnsMax)
    }

    /// Returns where the descriptions of options with these names begin.
    package static func column(after names: [String], columns: Int) -> Int {
        guard columns >= narrow.columns else { return narrow.indent }
        let widths = names.map { $0.count + gap }.filter { $0 <= namesMax }
        return widths.max() ?? namesMax
    }

    /// Returns the lines of one option, with its description beginning at a column.
    package static func row(
        _ name: String, _ description: String, at column: Int, columns: Int
    ) -> String {
        let blank = String(repeating: " ", count: column)
        let lines = description.split(separator: "\n").map {
            filled($0, to: columns - column).replacing("\n", with: "\n\(blank)")
        }
        let fits = name.count + gap <= column
        let begin = fits ? name + blank.dropFirst(name.count) : "\(name)\n\(blank)"
        return begin + lines.joined(separator: "\n\(blank)") + "\n"
    }

    /// Returns a text wrapped to a number of columns.
    package static func filled(_ text: some StringProtocol, to columns: Int) -> String {
        var lines = [""]
        for word in text.split(whereSeparator: \.isWhitespace) {
            let last = lines[lines.count - 1]
            if last.isEmpty {
                lines[lines.count - 1] = String(word)
            } else if last.count + word.count < columns {
                lines[lines.count - 1] += " \(word)"
            } else {
                lines.append(String(word))
            }
        }
        return lines.joined(separator: "\n")
    }

    /// Returns paragraphs, which are separated by empty lines, wrapped to a number of columns.
    /// Items of a list begin with `- `. Paragraphs of commands keep their lines.
    package static func paragraphs(_ text: String, columns: Int) -> String {
        let width = min(columns, paragraphMax)
        return paragraphs(of: text).map { lines, isOfCommands in
            let lines =
                isOfCommands ? lines.map(String.init) : blocks(of: lines).map { block($0, width) }
            return lines.joined(separator: "\n")
        }.joined(separator: "\n\n")
    }

    /// Returns the lines of each paragraph, and whether it consists of commands.
    package static func paragraphs(
        of text: String
    ) -> [(lines: ArraySlice<Substring>, isOfCommands: Bool)] {
        let lines = text.split(separator: "\n", omittingEmptySubsequences: false)
        return lines.split(whereSeparator: \.isEmpty).map { lines in
            (lines: lines, isOfCommands: lines.allSatisfy { $0.hasPrefix("imagebus ") })
        }
    }

    /// Joins the lines of each item of a list, and those before the list.
    private static func blocks(of lines: ArraySlice<Substring>) -> [String] {
        var blocks: [String] = []
        for line in lines {
            if blocks.isEmpty || line.hasPrefix(item) {
                blocks.append(String(line))
            } else {
                blocks[blocks.count - 1] += " \(line)"
            }
        }
        return blocks
    }

    private static func block(_ text: String, _ width: Int) -> String {
        guard text.hasPrefix(item) else { return filled(text, to: width) }
        let lines = filled(text.dropFirst(item.count), to: width - item.count)
        let blank = String(repeating: " ", count: item.count)
        return item + lines.replacing("\n", with: "\n\(blank)")
    }

    private static let item = "- "
}
