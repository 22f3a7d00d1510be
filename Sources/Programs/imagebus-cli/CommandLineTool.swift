import CommandLineInterface
import Model
import Reporting

/// The program: finds the command, reads its options and runs it.
enum CommandLineTool {

    /// Runs with the arguments after the program's name; returns the exit status (SEMANTICS §15.6).
    static func run(_ arguments: [String], environment: [String: String]) -> Int32 {
        guard let name = arguments.first else {
            Terminal.error(HelpText.overview)
            return Command.usageStatus
        }
        // `help get` is the same as `get --help`.
        if name == "help", arguments.count > 1 {
            return run([arguments[1], "--help"], environment: environment)
        }
        switch name {
        case "--help", "-h", "help":
            return Terminal.finish(name, HelpText.overview)
        case "--version":
            return Terminal.finish(name, HelpText.version)
        default: break
        }
        guard let command = ToolCommand.named(name) else {
            let names = Command.documented.map(\.name)
            Terminal.error(
                "imagebus: unknown command '\(name)'"
                    + (SpellingSuggestion.nearest(name, names).map { ". Did you mean '\($0)'?" }
                        ?? ": the commands are \(names.joined(separator: ", ")).")
                    + " See imagebus --help\n")
            return Command.usageStatus
        }
        return command.run(Array(arguments.dropFirst()), environment)
    }
}

/// A command that this program can run: its documentation, and the function that runs it.
struct ToolCommand: Sendable {
    let command: Command
    /// Receives the arguments after the name and the environment; returns the exit status.
    let run: @Sendable ([String], [String: String]) -> Int32

    /// All commands, in the order of the help. No other code is reached by a name.
    static let all: [ToolCommand] = [
        ToolCommand(.serve, ServeOptions.init, ServeCommand.run),
        ToolCommand(.get, GetOptions.init, GetCommand.run),
        ToolCommand(.animate, AnimateOptions.init, AnimateCommand.run),
        ToolCommand(.prefetch, PrefetchOptions.init, PrefetchTool.run),
        ToolCommand(.status, StatusOptions.init, StatusCommand.run),
        ToolCommand(.health, HealthOptions.init, HealthCommand.run),
        ToolCommand(.doctor, DoctorOptions.init, DoctorCommand.run),
        ToolCommand(.cache, CacheOptions.init, CacheTool.run),
        ToolCommand(.failureCache, FailureCacheTool.command, answer: FailureCacheTool.answer),
        ToolCommand(.downloads, DownloadsTool.command, answer: DownloadsTool.answer),
        ToolCommand(.cancel, CancelTool.target, answer: CancelTool.answer),
        ToolCommand(.drain, DrainTarget.init, answer: DrainTool.answer),
        ToolCommand(.config, ConfigurationCheck.Options.init, ConfigurationCheck.run),
        // Contains the URL grammars; its options are read here.
        ToolCommand(
            .url, URLOptions.init, { try CompanionProgram.run("imagebus-gateway", $0.arguments) }),
        ToolCommand(.completion, { read, _ in read }, DocumentationCommand.printScript),
        ToolCommand(.manual, { read, _ in read }, DocumentationCommand.printManual),
        // Reads its options and prints its help itself.
        ToolCommand(command: .bench) { arguments, _ in
            do {
                return try CompanionProgram.run("imagebus-bench", arguments)
            } catch {
                return Terminal.fail(Command.bench.name, error)
            }
        },
    ]

    /// Returns the command with a name, or with a former one.
    static func named(_ name: String) -> ToolCommand? {
        all.first { $0.command.name == name || $0.command.formerNames.contains(name) }
    }
}

extension ToolCommand {
    private typealias Reader<Options> =
        @Sendable (ReadOptions, [String: String]) throws(UsageError) -> Options

    /// A command of this program, which reads its options and then performs it with them.
    private init<Options>(
        _ command: Command, _ options: @escaping Reader<Options>,
        _ perform: @escaping @Sendable (Options) throws -> Int32
    ) {
        self.init(command: command) { arguments, environment in
            command.run(arguments, environment: environment) { read in
                // A private stack inherits the environment of its parent process, which has
                // already warned.
                if !read.isSet("parent-pid") { Self.warn(command, environment) }
                return try perform(try options(read, environment))
            }
        }
    }

    /// A command that asks the coordinator one question, and prints the answer as text or JSON.
    private init<Question>(
        _ command: Command,
        _ question: @escaping @Sendable (ReadOptions) throws(UsageError) -> Question,
        answer: @escaping @Sendable (Question, OperatorOptions) throws -> OperatorAnswer
    ) {
        self.init(command) { (read, environment) throws(UsageError) in
            let stack = try OperatorOptions(read, environment: environment)
            return (stack, try question(read))
        } _: { stack, question in
            try answer(question, stack).print(command.name, asJSON: stack.printsJSON)
        }
    }

    /// Warns about misspelled environment variables.
    private static func warn(_ command: Command, _ environment: [String: String]) {
        let options = Command.documented.flatMap(\.definitions).filter { $0.visibility != .hidden }
        for line in EnvironmentSpelling.warnings(
            environment, options: options, others: ["IMAGEBUS_PROGRAMS"])
        {
            Terminal.complain(command.name, line)
        }
    }
}

extension Command {
    /// The documentation of all commands.
    static var documented: [Command] { ToolCommand.all.map(\.command) }
}

extension HelpText {
    /// The output of `imagebus --help`, wrapped to the width of standard output.
    static var overview: String {
        let columns = HelpLayout.columns
        let names = Command.documented.map { "  \($0.name)" }
        let column = HelpLayout.column(after: names, columns: columns)
        let commands = zip(names, Command.documented).map { name, command in
            HelpLayout.row(name, command.summary, at: column, columns: columns)
        }
        return """
            usage: imagebus COMMAND [options]

            \(HelpLayout.paragraphs(about, columns: columns))

            commands:
            \(commands.joined())
            \(HelpLayout.paragraphs(more, columns: columns))

            """
    }

    private static let about = """
        Downloads, caches, decodes, transforms and encodes images in separate worker processes.
        """

    private static let more = """
        `imagebus COMMAND --help` or `imagebus help COMMAND` lists the options of a command. Every
        option can also be set by an environment variable: --log-level is IMAGEBUS_LOG_LEVEL. The
        command line takes precedence.

        \(ExitStatuses.text)
        """
}

/// `imagebus completion` and `imagebus manual`: texts generated from the table of commands.
enum DocumentationCommand {
    /// Prints the completion script of a shell.
    static func printScript(_ read: ReadOptions) throws(UsageError) -> Int32 {
        guard read.operands.count == 1 else {
            let names = Shell.allCases.map(\.rawValue).joined(separator: ", ")
            throw UsageError("expected one shell: \(names)")
        }
        let shell = try OptionValue.word(
            read.operands[0], Shell.allCases.map { ($0.rawValue, $0) })
        return Terminal.finish(Command.completion.name, shell.script(Command.documented))
    }

    static func printManual(_ read: ReadOptions) throws(UsageError) -> Int32 {
        try read.checkNoOperands()
        return Terminal.finish(Command.manual.name, ManualPage.text)
    }
}

extension Command {
    static let completion = Command(
        name: "completion",
        summary: "print a shell completion script",
        usage: "bash|zsh|fish [options]",
        operands: [.words(Shell.allCases.map(\.rawValue))],
        options: [],
        notes: """
            The script completes commands, options, values with a fixed set of words, and file and
            directory names. scripts/install puts it where the shells of this machine look for it.
            It belongs to this version: print it again after an update.
            """,
        examples: [
            (
                "imagebus completion bash > ~/.local/share/bash-completion/completions/imagebus",
                "bash with the bash-completion package"
            ),
            ("source <(imagebus completion bash)", "current bash session only"),
            ("imagebus completion zsh > ~/.zfunc/_imagebus", "zsh, if fpath includes ~/.zfunc"),
            ("imagebus completion fish > ~/.config/fish/completions/imagebus.fish", "fish"),
        ])

    static let manual = Command(
        name: "manual",
        summary: "print the imagebus(1) manual page",
        usage: "[options]",
        options: [],
        notes: """
            Prints the source of a man page with all commands and options of this version.
            scripts/install puts it where man looks for it.
            """,
        examples: [
            ("imagebus manual | man -l -", "read the page"),
            ("imagebus manual > ~/.local/share/man/man1/imagebus.1", "install it for this user"),
        ])
}

/// The exit statuses of `imagebus` (PROTOCOL §9).
enum ExitStatuses {
    static let rows: [(status: Int32, meaning: String)] = [
        (0, "success"),
        (
            1,
            "cache miss of get, or a problem reported by health or doctor"
        ),
        (64, "usage error"), (65, "not an image, or unsupported"), (66, "refused by the origin"),
        (69, "no coordinator"), (70, "internal error"), (73, "output cannot be created"),
        (74, "output cannot be written"), (75, "try again later"),
        (76, "protocol error of the origin"),
        (77, "refused by policy or limit"), (78, "configuration error of serve"),
        (124, "timeout"), (130, "cancelled"), (141, "output closed by its reader"),
    ]

    /// All statuses in one paragraph.
    static var text: String {
        let parts = rows.map { "\($0.status) \($0.meaning)" }
        return "exit status: " + parts.joined(separator: ", ")
    }
}
