import CommandLineInterface

/// `imagebus completion` and `imagebus manual`: texts made of the table of commands.
enum DocumentationCommand {
    /// Prints the script of a shell.
    static func printScript(_ read: ReadOptions) throws(UsageError) -> Int32 {
        guard read.operands.count == 1 else {
            let names = Shell.allCases.map(\.rawValue).joined(separator: ", ")
            throw UsageError("name one shell: \(names)")
        }
        let shell = try OptionValue.word(
            read.operands[0], Shell.allCases.map { ($0.rawValue, $0) })
        return Terminal.finish(Command.completion.name, shell.script(Command.documented))
    }

    /// Prints the manual page.
    static func printManual(_ read: ReadOptions) throws(UsageError) -> Int32 {
        if let operand = read.operands.first { throw UsageError("'\(operand)' is no option") }
        return Terminal.finish(Command.manual.name, ManualPage.imagebus.text)
    }
}
