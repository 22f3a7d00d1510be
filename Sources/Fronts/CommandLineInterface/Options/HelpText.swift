import Messages

/// The texts of `--help` and `--version`.
package enum HelpText {
    /// The text of `imagebus COMMAND --help`.
    package static func text(of command: Command) -> String {
        var text = "usage: imagebus \(command.name) \(command.usage)\n\n\(command.summary)\n"
        let groups = command.options + [("", [OptionDefinition.help, .version])]
        for group in groups {
            let shown = group.definitions.filter { $0.visibility == .shown }
            if shown.isEmpty { continue }
            text += "\n" + (group.heading.isEmpty ? "" : "\(group.heading):\n")
            for definition in shown { text += lines(of: definition) }
        }
        if !command.notes.isEmpty { text += "\n\(command.notes)\n" }
        text += "\nexamples:\n"
        for example in command.examples {
            text += "  \(example.line)\n      \(example.does)\n"
        }
        return text
    }

    /// The text of `--version`.
    package static var version: String {
        "imagebus \(ProductVersion.text) (protocol \(FrameHeader.currentVersion))\n"
    }

    private static let column = 30

    private static func lines(of definition: OptionDefinition) -> String {
        let letter = definition.letter.map { "-\($0), " } ?? "    "
        let name = "  \(letter)--\(definition.name)" + (definition.value.map { " \($0)" } ?? "")
        let help = definition.help.split(separator: "\n", omittingEmptySubsequences: false)
        var text = name.count < column ? padded(name, to: column) : "\(name)\n\(blank(column))"
        for (index, line) in help.enumerated() {
            text += (index == 0 ? "" : blank(column)) + line + "\n"
        }
        return text
    }

    /// A text with blanks behind it.
    package static func padded(_ text: String, to width: Int) -> String {
        text + blank(width - text.count)
    }

    /// A paragraph whose words were distributed anew over lines.
    package static func filled(_ text: String, to columns: Int = widthMax) -> String {
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

    /// Columns of a paragraph.
    package static let widthMax = 88

    private static func blank(_ count: Int) -> String {
        String(repeating: " ", count: max(0, count))
    }
}
