import CommandLineInterface
import Model
import Reporting

/// The manual page of `imagebus`, generated from the table of commands.
enum ManualPage {
    /// A word and its description.
    private typealias Row = (word: String, text: String)

    private static let commands = Command.documented

    /// The page in the input format of `man`.
    static var text: String {
        let parts = [
            ".TH IMAGEBUS 1 \"\" \"Imagebus \(ProductVersion.text)\" \"User Commands\"\n",
            // No hyphenation, and single spaces, so that commands can be copied.
            ".nh\n.ad l\n",
            section(
                "NAME",
                "imagebus \\- load images: download, cache, decode, transform and encode them\n"),
            section("SYNOPSIS", synopsis),
            section("DESCRIPTION", description),
            section("COMMANDS", commands.map(command).joined()),
            section("EXIT STATUS", rows(ExitStatuses.rows.map { ("\($0.status)", $0.meaning) })),
            section("ENVIRONMENT", environment),
            section("FILES", rows(files)),
            section("EXAMPLES", commands.map(examples).joined()),
        ]
        return parts.joined()
    }

    private static func section(_ name: String, _ text: String) -> String { ".SH \(name)\n\(text)" }

    private static func rows(_ rows: [Row]) -> String {
        rows.map { RoffText.entry(RoffText.bold($0.word), RoffText.escaped($0.text)) }.joined()
    }

    private static var synopsis: String {
        commands.map { "\(RoffText.bold("imagebus \($0.name)")) \(RoffText.escaped($0.usage))\n" }
            .joined(separator: ".br\n")
    }

    private static var description: String {
        RoffText.paragraphs(
            """
            Imagebus downloads, caches, decodes, transforms and encodes images in separate worker \
            processes. `imagebus serve` runs them; the other commands use or inspect the running \
            stack, and `imagebus get` starts a private one if none is running.

            Options can appear anywhere after the command. Options with a value are written as \
            --name value, --name=value or, if they have a letter, -n value. Names can be \
            abbreviated to a unique prefix. After --, all words are operands.
            """)
    }

    private static func command(_ command: Command) -> String {
        let usage = command.usage.isEmpty ? "" : " " + command.usage
        let groups = command.shownGroups.map { group in
            let heading = group.heading.isEmpty ? "" : ".PP\n\(RoffText.italic(group.heading)):\n"
            return heading + group.definitions.map(entry).joined()
        }
        return ".SS \(RoffText.escaped("imagebus \(command.name)\(usage)"))\n"
            + "\(RoffText.escaped(sentence(command.summary)))\n"
            + groups.joined() + RoffText.paragraphs(command.notes)
    }

    private static func entry(_ option: OptionDefinition) -> String {
        let letter = option.letter.map { "\(RoffText.bold("-\($0)")), " } ?? ""
        let value = option.value.map { " \(RoffText.italic($0))" } ?? ""
        return RoffText.entry(
            letter + RoffText.bold("--\(option.name)") + value,
            RoffText.filled(option.help.split(separator: "\n")))
    }

    /// Capitalizes a text and appends a period.
    private static func sentence(_ text: String) -> String {
        text.prefix(1).uppercased() + text.dropFirst() + "."
    }

    private static var environment: String {
        let names = Set(commands.flatMap(\.shownDefinitions).map(\.environmentName)).subtracting([
            OptionDefinition.help.environmentName, OptionDefinition.version.environmentName,
        ])
        let list = "\(names.sorted().joined(separator: ", "))."
        return RoffText.paragraphs(
            """
            Every option can also be set by a variable: --log-level is IMAGEBUS_LOG_LEVEL. Flags \
            are 1 or 0, multiple values are comma-separated, and the command line takes precedence.
            """) + rows(variables) + ".PP\nVariables of options:\n\(RoffText.escaped(list))\n"
    }

    private static func examples(_ command: Command) -> String {
        command.examples.map { example in
            ".PP\n\(RoffText.escaped(sentence(example.does)))\n"
                + RoffText.asIs([example.line[...]])
        }.joined()
    }

    /// Environment variables that don't correspond to an option.
    private static let variables: [Row] = [
        ("IMAGEBUS_PROGRAMS", "directory of the programs that serve starts (that of imagebus)"),
        ("XDG_RUNTIME_DIR", "holds the runtime directory of a user's stack"),
        ("XDG_CACHE_HOME, HOME", "hold the cache directory of a user's stack"),
        ("TRACEPARENT", "W3C Trace Context of the caller, for get"),
        ("TERM, KITTY_WINDOW_ID", "graphics support of the terminal, for get --show"),
        ("NO_COLOR", "if set, doctor prints no colors"),
    ]

    private static let files: [Row] = [
        (
            "$XDG_RUNTIME_DIR/imagebus, /run/imagebus, /dev/shm/imagebus-UID",
            "the runtime directory with sockets and shared memory (--runtime-dir)"
        ),
        (
            "$XDG_CACHE_HOME/imagebus, ~/.cache/imagebus",
            "the disk tier of the cache (--cache-dir)"
        ),
        ("/etc/imagebus/environment", "settings of the services installed by scripts/install"),
    ]
}

/// Text in troff format, using the `man` macros.
enum RoffText {
    /// Escapes a text so that it isn't interpreted as a macro, and converts it to ASCII.
    static func escaped(_ text: some StringProtocol) -> String {
        let line = text.unicodeScalars.map(escaped).joined()
        return line.hasPrefix(".") ? "\\&" + line : line
    }

    static func bold(_ text: some StringProtocol) -> String { "\\fB\(escaped(text))\\fR" }
    static func italic(_ text: some StringProtocol) -> String { "\\fI\(escaped(text))\\fR" }

    /// Formats paragraphs separated by empty lines; paragraphs of commands keep their line breaks.
    static func paragraphs(_ text: String) -> String {
        HelpLayout.paragraphs(of: text).map { lines, isOfCommands in
            isOfCommands ? asIs(lines) : ".PP\n\(filled(lines))\n"
        }.joined()
    }

    /// Formats lines to be joined and wrapped.
    static func filled(_ lines: some Sequence<Substring>) -> String {
        lines.map { escaped($0) }.joined(separator: "\n")
    }

    /// Formats lines that keep their line breaks.
    static func asIs(_ lines: some Sequence<Substring>) -> String {
        ".PP\n.RS 4\n.nf\n\(filled(lines))\n.fi\n.RE\n"
    }

    /// Formats a word with an indented description.
    static func entry(_ head: String, _ text: String) -> String { ".TP\n\(head)\n\(text)\n" }

    private static func escaped(_ scalar: Unicode.Scalar) -> String {
        switch scalar {
        case "\\": "\\e"
        case "-": "\\-"
        case "'": "\\(aq"
        case "`": "\\(ga"
        case "^": "\\(ha"
        case "~": "\\(ti"
        case "\"": "\\(dq"
        default: scalar.isASCII ? String(scalar) : "\\[u\(hex(scalar))]"
        }
    }

    /// Returns at least four hexadecimal digits, in uppercase.
    private static func hex(_ scalar: Unicode.Scalar) -> String {
        let digits = String(scalar.value, radix: 16, uppercase: true)
        return String(repeating: "0", count: max(0, 4 - digits.count)) + digits
    }
}
