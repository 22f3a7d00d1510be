import Linux

/// Where the programs under test lie.
public enum Programs {
    /// `IMAGEBUS_PROGRAMS`, else the folder of the test bundle: both are built together.
    public static let folder: String = {
        if let named = CurrentProcess.environment("IMAGEBUS_PROGRAMS"), !named.isEmpty {
            return named
        }
        let path = (try? CurrentProcess.executablePath()) ?? ""
        return String(path[..<(path.lastIndex(of: "/") ?? path.startIndex)])
    }()

    /// The path of the command line program.
    public static var commandLine: String { folder + "/imagebus" }

    /// This process' environment without what would change how our programs behave.
    static var cleanEnvironment: [String: String] {
        CurrentProcess.environment.filter { name, _ in
            !name.hasPrefix("IMAGEBUS_") && !name.hasPrefix("XDG_")
        }
    }
}
