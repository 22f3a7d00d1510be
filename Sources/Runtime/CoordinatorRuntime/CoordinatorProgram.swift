import Bootstrap
import ConfigurationFile
import Linux

/// The whole program.
public enum CoordinatorProgram {
    /// Runs with these arguments (without the program's name); returns the exit status.
    public static func run(_ words: [String]) -> Int32 {
        do {
            let arguments = try ProgramArguments(
                words, valued: Bootstrap.valued.union(CoordinatorOptions.valued),
                flags: CoordinatorOptions.flags)
            let options = try CoordinatorOptions(arguments)
            // SIGHUP: load the configuration anew.
            let bootstrap = try Bootstrap(
                program: "imagebus-coordinator", arguments, signals: [.hangUp])
            var coordinator = try Coordinator(bootstrap, options: options)
            return try coordinator.run()
        } catch {
            Bootstrap.complain("imagebus-coordinator", error)
            return status(of: error)
        }
    }
    /// A file that cannot be used is a setting: starting again would not help.
    private static func status(of error: any Error) -> Int32 {
        switch error {
        case is ConfigurationFileError: ProgramExit.usage
        case is IdentityKeyError: ProgramExit.configuration
        default: ProgramExit.status(of: error)
        }
    }
}
