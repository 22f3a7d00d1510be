/// The texts of `--help`.
enum HelpText {
    /// The text of `imagebus --help`.
    static var overview: String {
        let width = Command.all.map(\.name.count).max() ?? 0
        let commands = Command.all.map { "  \(padded($0.name, to: width + 2))\($0.summary)\n" }
        return """
            usage: imagebus COMMAND [options]

            Loads images: downloads, caches, decodes, transforms and encodes them in worker
            processes of their own.

            commands:
            \(commands.joined())
            `imagebus COMMAND --help` or `imagebus help COMMAND` tells the options of a command.
            Every option is an environment variable as well: --log-level is IMAGEBUS_LOG_LEVEL; the
            command line wins.

            exit status: 0 done, 1 a miss where get was to write an image, 64 usage, 65 not an image
            or not supported, 66 the origin says no, 69 no coordinator, 70 internal, 73 the output
            cannot be created, 74 nor written, 75 try again later, 76 the origin broke the protocol,
            77 refused by policy or limit, 124 deadline, 130 cancelled, 141 nobody reads the output

            """
    }

    /// The text of `imagebus COMMAND --help`.
    static func text(of command: Command) -> String {
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

    private static func padded(_ text: String, to width: Int) -> String {
        text + blank(width - text.count)
    }

    private static func blank(_ count: Int) -> String {
        String(repeating: " ", count: max(0, count))
    }
}
