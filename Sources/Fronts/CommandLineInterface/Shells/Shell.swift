/// A shell for which there is a script that completes command lines of `imagebus`.
package enum Shell: String, CaseIterable, Sendable {
    case bash
    case zsh
    case fish

    /// The script: commands, options and the words of their values, all of the table of commands.
    package func script(_ commands: [Command]) -> String {
        switch self {
        case .bash: BashScript(commands: commands).text
        case .zsh: ZshScript(commands: commands).text
        case .fish: FishScript(commands: commands).text
        }
    }

    /// The line behind the name of the command in a list.
    static func brief(_ help: String) -> String {
        let line = help.split(separator: "\n").joined(separator: " ")
        guard line.count > briefMax else { return line }
        let words = line.prefix(briefMax).split(separator: " ").dropLast()
        return words.joined(separator: " ") + " …"
    }

    /// Columns of a line that explains an option.
    private static let briefMax = 64

    /// Behind `imagebus` itself.
    static let general = ["help", "--help", "--version"]
}
