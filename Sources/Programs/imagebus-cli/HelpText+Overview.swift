import CommandLineInterface

extension HelpText {
    /// The text of `imagebus --help`.
    static var overview: String {
        let all = Command.documented.map { ($0.name, $0.summary) }
        let width = all.map(\.0.count).max() ?? 0
        let commands = all.map { "  \(padded($0.0, to: width + 2))\($0.1)\n" }
        return """
            usage: imagebus COMMAND [options]

            Loads images: downloads, caches, decodes, transforms and encodes them in worker
            processes of their own.

            commands:
            \(commands.joined())
            `imagebus COMMAND --help` or `imagebus help COMMAND` tells the options of a command.
            Every option is an environment variable as well: --log-level is IMAGEBUS_LOG_LEVEL; the
            command line wins.

            \(ExitStatuses.text)

            """
    }
}
