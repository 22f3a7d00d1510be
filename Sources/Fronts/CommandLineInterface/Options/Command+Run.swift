extension Command {
    /// The exit status of a command line that makes no sense.
    package static let usageStatus: Int32 = 64

    /// Reads the options and answers `--help` and `--version`; all else `perform` does. Returns the
    /// exit status.
    package func run(
        _ arguments: [String], environment: [String: String],
        _ perform: (ReadOptions) throws(UsageError) -> Int32
    ) -> Int32 {
        do throws(UsageError) {
            let read = try OptionReader.read(arguments, definitions, environment: environment)
            if read.isSet(OptionDefinition.help.name) {
                return Terminal.finish(name, HelpText.text(of: self))
            }
            if read.isSet(OptionDefinition.version.name) {
                return Terminal.finish(name, HelpText.version)
            }
            return try perform(read)
        } catch {
            Terminal.complain(name, "\(error.message); see imagebus \(name) --help")
            return Self.usageStatus
        }
    }
}
