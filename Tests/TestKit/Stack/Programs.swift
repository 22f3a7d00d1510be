import Glibc
import Linux

/// The programs that tests start: raw values are the names of their files.
public enum TestedProgram: String, CaseIterable, Sendable {
    /// The command line, which is also `serve`.
    case imagebus
    /// The coordinator of a stack.
    case coordinator = "imagebus-coordinator"
    /// A worker that downloads.
    case download = "imagebus-download"
    /// The worker that holds the caches.
    case cache = "imagebus-cache"
    /// A worker that decodes.
    case decode = "imagebus-decode"
    /// A worker that transforms and encodes.
    case transform = "imagebus-transform"
    /// The HTTP gateway.
    case gateway = "imagebus-gateway"
    /// The program of `imagebus bench`.
    case bench = "imagebus-bench"
    /// The example of a coder in Swift.
    case qoiCoder = "qoi-coder"
    /// The example of an encoder in Swift.
    case qoiEncoder = "qoi-encoder"
    /// The example of a cache in Swift.
    case dictionaryCache = "dictionary-cache"
    /// Plug-ins that fail on demand.
    case extensionProbe = "extension-probe"
}

/// Where the programs under test lie.
public enum Programs {
    /// `IMAGEBUS_PROGRAMS`, else the folder of the test bundle: both are built together. The path
    /// of a program in it is `path(_:)`.
    public static let folder: String = {
        if let named = CurrentProcess.environment("IMAGEBUS_PROGRAMS"), !named.isEmpty {
            return named
        }
        let path = (try? CurrentProcess.executablePath()) ?? ""
        return String(path[..<(path.lastIndex(of: "/") ?? path.startIndex)])
    }()

    /// The path of a program. Throws a `StackFailure` of one line, which names it, if it was not
    /// built.
    public static func path(_ program: TestedProgram) throws -> String {
        let path = place(of: program)
        guard access(path, X_OK) == 0 else { throw StackFailure(missing: path) }
        return path
    }

    /// The same, whether or not it is there.
    static func place(of program: TestedProgram) -> String { "\(folder)/\(program.rawValue)" }

    /// This process' environment without what would change how our programs behave.
    static var cleanEnvironment: [String: String] {
        CurrentProcess.environment.filter { name, _ in
            !name.hasPrefix("IMAGEBUS_") && !name.hasPrefix("XDG_")
        }
    }
}
