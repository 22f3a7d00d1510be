import Model
import Reporting

/// The output of `--help` and `--version`.
package enum HelpText {
    /// Returns the output of `imagebus COMMAND --help`, wrapped to a number of columns; by default
    /// as for anything but a terminal.
    package static func text(of command: Command, columns: Int? = nil) -> String {
        let columns = columns ?? HelpLayout.columnsMax
        var text = "usage: imagebus \(command.name) \(command.usage)\n\n\(command.summary)\n"
        let column = HelpLayout.column(after: command.shownDefinitions.map(head), columns: columns)
        for group in command.shownGroups {
            text += "\n" + (group.heading.isEmpty ? "" : "\(group.heading):\n")
            for definition in group.definitions {
                text += HelpLayout.row(
                    head(definition), definition.help, at: column, columns: columns)
            }
        }
        if !command.notes.isEmpty {
            text += "\n\(HelpLayout.paragraphs(command.notes, columns: columns))\n"
        }
        text += "\nexamples:\n"
        for example in command.examples {
            text += "  \(example.line)\n      \(example.does)\n"
        }
        return text
    }

    /// The output of `--version`.
    package static var version: String {
        "imagebus \(ProductVersion.text) (protocol \(FrameHeader.currentVersion))\n"
    }

    /// Returns the names and the placeholder of an option.
    private static func head(_ definition: OptionDefinition) -> String {
        let letter = definition.letter.map { "-\($0), " } ?? "    "
        return "  \(letter)--\(definition.name)" + (definition.value.map { " \($0)" } ?? "")
    }

    /// Returns a text padded with spaces to a width.
    package static func padded(_ text: String, to width: Int) -> String {
        text + String(repeating: " ", count: max(0, width - text.count))
    }
}
