import CommandLineInterface
import ImageModel

/// The program: finds the command, reads its options, runs it.
enum CommandLineTool {

    /// Takes the arguments behind the program's name; returns the exit status (SEMANTICS §15.6).
    static func run(_ arguments: [String], environment: [String: String]) -> Int32 {
        guard let name = arguments.first else {
            Terminal.error(HelpText.overview)
            return Command.usageStatus
        }
        // `help get` is `get --help`.
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
        if name == NeighbourProgram.bench.command {
            return NeighbourProgram.bench.run(Array(arguments.dropFirst()))
        }
        guard let command = Command.all.first(where: { $0.name == name }) else {
            let names = Command.documented.map(\.name)
            Terminal.error(
                "imagebus: unknown command '\(name)'"
                    + (Nearness.nearest(name, names).map { ", did you mean '\($0)'?" }
                        ?? ": the commands are \(names.joined(separator: ", "))")
                    + "; see imagebus --help\n")
            return Command.usageStatus
        }
        let options = Array(arguments.dropFirst())
        return command.run(options, environment: environment) { (read) throws(UsageError) in
            // A private stack has the environment of who started it, and who warned already.
            if !read.isSet("parent-pid") { warn(command, environment) }
            return try perform(command, read, environment)
        }
    }

    /// Says which variables were misspelled.
    private static func warn(_ command: Command, _ environment: [String: String]) {
        let options = Command.documented.flatMap(\.definitions).filter { $0.visibility != .hidden }
        for line in EnvironmentSpelling.warnings(
            environment, options: options, others: ["IMAGEBUS_PROGRAMS"])
        {
            Terminal.complain(command.name, line)
        }
    }

    private static func perform(
        _ command: Command, _ read: ReadOptions, _ environment: [String: String]
    ) throws(UsageError) -> Int32 {
        switch command.name {
        case Command.serve.name:
            return ServeCommand.run(try ServeOptions(read, environment: environment))
        case Command.get.name: return GetCommand.run(try GetOptions(read, environment: environment))
        case Command.animate.name:
            return AnimateCommand.run(try AnimateOptions(read, environment: environment))
        case Command.prefetch.name:
            return PrefetchTool.run(try PrefetchOptions(read, environment: environment))
        case Command.status.name:
            return StatusCommand.run(try StatusOptions(read, environment: environment))
        case Command.doctor.name:
            return DoctorCommand.run(try DoctorOptions(read, environment: environment))
        case Command.blacklist.name:
            return BlacklistTool.run(try BlacklistOptions(read, environment: environment))
        case Command.cache.name:
            return CacheTool.run(try CacheOptions(read, environment: environment))
        case Command.cancel.name:
            return CancelTool.run(try CancelOptions(read, environment: environment))
        case Command.drain.name:
            return DrainTool.run(try DrainOptions(read, environment: environment))
        case Command.downloads.name:
            return DownloadsTool.run(try DownloadsOptions(read, environment: environment))
        case Command.config.name:
            return ConfigurationCheck.run(try ConfigurationCheck.Options(read, environment))
        case Command.url.name:
            let options = try URLOptions(read, environment: environment)
            return NeighbourProgram.gateway.run(options.arguments)
        case Command.completion.name: return try DocumentationCommand.printScript(read)
        case Command.manual.name: return try DocumentationCommand.printManual(read)
        default:
            return HealthCommand.run(try HealthOptions(read, environment: environment))
        }
    }
}
