import Messages

/// The manual page of `imagebus`, made of the table of commands.
package struct ManualPage {
    /// A word, and what is said of it.
    package typealias Row = (word: String, text: String)

    private let commands: [Command]
    private let summary: String
    private let statuses: [Row]
    private let variables: [Row]
    private let files: [Row]

    package init(
        _ commands: [Command], summary: String, statuses: [Row], variables: [Row], files: [Row]
    ) {
        (self.commands, self.summary) = (commands, summary)
        (self.statuses, self.variables, self.files) = (statuses, variables, files)
    }

    /// Source for `man`.
    package var text: String {
        let parts = [
            ".TH IMAGEBUS 1 \"\" \"Imagebus \(ProductVersion.text)\" \"User Commands\"\n",
            // Words stay whole, and blanks single, so that what is read can be typed.
            ".nh\n.ad l\n",
            section("NAME", "imagebus \\- \(RoffText.escaped(summary))\n"),
            section("SYNOPSIS", synopsis),
            section("DESCRIPTION", description),
            section("COMMANDS", commands.map(command).joined()),
            section("EXIT STATUS", rows(statuses)),
            section("ENVIRONMENT", environment),
            section("FILES", rows(files)),
            section("EXAMPLES", commands.map(examples).joined()),
        ]
        return parts.joined()
    }

    private func section(_ name: String, _ text: String) -> String { ".SH \(name)\n\(text)" }

    private func rows(_ rows: [Row]) -> String {
        rows.map { RoffText.entry(RoffText.bold($0.word), RoffText.escaped($0.text)) }.joined()
    }

    private var synopsis: String {
        commands.map { "\(RoffText.bold("imagebus \($0.name)")) \(RoffText.escaped($0.usage))\n" }
            .joined(separator: ".br\n")
    }

    private var description: String {
        RoffText.paragraphs(
            """
            Imagebus downloads, caches, decodes, transforms and encodes images in worker processes \
            of their own. `imagebus serve` runs them; the other commands use the stack that runs, \
            or tell of it, and `imagebus get` starts one of its own where none runs.

            Options may stand anywhere behind the command. One that takes a value is written as \
            --name value, --name=value or, where it has a letter, -n value. What begins a name \
            that is the only one so stands for it. Behind -- all words are operands.
            """)
    }

    private func command(_ command: Command) -> String {
        let usage = command.usage.isEmpty ? "" : " " + command.usage
        let groups = (command.options + [("", [OptionDefinition.help, .version])]).map { group in
            let shown = group.definitions.filter { $0.visibility == .shown }
            guard !shown.isEmpty else { return "" }
            let heading = group.heading.isEmpty ? "" : ".PP\n\(RoffText.italic(group.heading)):\n"
            return heading + shown.map(entry).joined()
        }
        return ".SS \(RoffText.escaped("imagebus \(command.name)\(usage)"))\n"
            + "\(RoffText.escaped(Self.sentence(command.summary)))\n"
            + groups.joined() + RoffText.paragraphs(command.notes)
    }

    private func entry(_ option: OptionDefinition) -> String {
        let letter = option.letter.map { "\(RoffText.bold("-\($0)")), " } ?? ""
        let value = option.value.map { " \(RoffText.italic($0))" } ?? ""
        return RoffText.entry(
            letter + RoffText.bold("--\(option.name)") + value,
            RoffText.filled(option.help.split(separator: "\n")))
    }

    /// A capital letter, and a point.
    private static func sentence(_ text: String) -> String {
        text.prefix(1).uppercased() + text.dropFirst() + "."
    }

    private var environment: String {
        let names = Set(commands.flatMap(\.shownDefinitions).map(\.environmentName)).subtracting([
            OptionDefinition.help.environmentName, OptionDefinition.version.environmentName,
        ])
        let list = "\(names.sorted().joined(separator: ", "))."
        return RoffText.paragraphs(
            """
            Every option is a variable as well: --log-level is IMAGEBUS_LOG_LEVEL. A flag is 1 or \
            0, several values have commas between them, and the command line wins.
            """) + rows(variables) + ".PP\nVariables of options:\n\(RoffText.escaped(list))\n"
    }

    private func examples(_ command: Command) -> String {
        command.examples.map { example in
            ".PP\n\(RoffText.escaped(Self.sentence(example.does)))\n"
                + RoffText.asIs([example.line])
        }.joined()
    }
}
