import CommandLineInterface

extension HelpText {
    /// The text of `imagebus --help`.
    static var overview: String {
        let all =
            Command.all.map { ($0.name, $0.summary) }
            + NeighbourCommand.all.map { ($0.name, $0.summary) }
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

            exit status: 0 done, 1 a miss where get was to write an image, 64 usage, 65 not an image
            or not supported, 66 the origin says no, 69 no coordinator, 70 internal, 73 the output
            cannot be created, 74 nor written, 75 try again later, 76 the origin broke the protocol,
            77 refused by policy or limit, 124 deadline, 130 cancelled, 141 nobody reads the output

            """
    }
}
