import Glibc
import Linux

/// The programs that tests start; raw values are their file names.
public enum TestedProgram: String, CaseIterable, Sendable {
    /// The command line, which also provides `serve`.
    case imagebus
    /// The coordinator.
    case coordinator = "imagebus-coordinator"
    /// The download worker.
    case download = "imagebus-download"
    /// The cache worker.
    case cache = "imagebus-cache"
    /// The decode worker.
    case decode = "imagebus-decode"
    /// The worker that transforms and encodes.
    case transform = "imagebus-transform"
    /// The HTTP gateway.
    case gateway = "imagebus-gateway"
    /// The program behind `imagebus bench`.
    case bench = "imagebus-bench"
    /// The example coder plug-in in Swift.
    case qoiCoder = "qoi-coder"
    /// The example encoder plug-in in Swift.
    case qoiEncoder = "qoi-encoder"
    /// The example cache plug-in in Swift.
    case dictionaryCache = "dictionary-cache"
    /// Plug-ins that fail on demand.
    case extensionProbe = "extension-probe"
}

/// Locates the programs under test.
public enum Programs {
    /// The folder of the programs: `IMAGEBUS_PROGRAMS`, otherwise the folder of the test bundle,
    /// since both are built together. `path(_:)` returns the path of a program in it.
    public static let folder: String = {
        if let named = CurrentProcess.environment("IMAGEBUS_PROGRAMS"), !named.isEmpty {
            return named
        }
        let path = (try? CurrentProcess.executablePath()) ?? ""
        return String(path[..<(path.lastIndex(of: "/") ?? path.startIndex)])
    }()

    /// The path of a program. Throws a `StackFailure` of one line with its name if it wasn't built.
    public static func path(_ program: TestedProgram) throws -> String {
        let path = place(of: program)
        guard access(path, X_OK) == 0 else { throw StackFailure(missing: path) }
        return path
    }

    /// The same without checking that it exists.
    static func place(of program: TestedProgram) -> String { "\(folder)/\(program.rawValue)" }

    /// The environment of this process without the variables that change how Imagebus programs
    /// behave.
    static var cleanEnvironment: [String: String] {
        CurrentProcess.environment.filter { name, _ in
            !name.hasPrefix("IMAGEBUS_") && !name.hasPrefix("XDG_")
        }
    }
}
