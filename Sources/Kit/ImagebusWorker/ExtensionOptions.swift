import Bootstrap
import Messages
import WorkerRuntime

/// For which stack a process works: what its command line says, else the environment in which
/// `imagebus serve` starts it (PROTOCOL §10.3).
enum ExtensionOptions {
    /// Names of the arguments that people give.
    private static let valued: Set<String> = [
        "runtime-dir", "pool", "arena-limit", "log-level", "log-format",
    ]

    /// By the environment: an argument and the variable of its value.
    private static let variables = [
        ("runtime-dir", "IMAGEBUS_RUNTIME_DIR"), ("pool", "IMAGEBUS_POOL"),
        ("restarts", "IMAGEBUS_RESTARTS"), ("ready-fd", "IMAGEBUS_LIFE_FD"),
    ]

    /// Whether it is to say what it is, and nothing else.
    static func wantHelp(_ words: [String]) -> Bool {
        words.contains { $0 == "--help" || $0 == "-h" }
    }

    /// What the program of a worker understands. Throws for what is no argument, and where nothing
    /// says for whom it works.
    static func arguments(
        _ words: [String], environment: [String: String]
    ) throws -> ProgramArguments {
        let words = words.flatMap(parts)
        let own = try ProgramArguments(words, valued: valued)
        var all: [String] = []
        for (name, variable) in variables where own.value(name) == nil {
            if let value = environment[variable] { all += ["--\(name)", value] }
        }
        let arguments = try ProgramArguments(
            all + words, valued: WorkerProgram.foreignValued)
        _ = try (arguments.required("runtime-dir"), arguments.required("pool"))
        return arguments
    }

    /// `--pool=qoi` as `--pool qoi`.
    private static func parts(_ word: String) -> [String] {
        guard word.hasPrefix("--"), let place = word.firstIndex(of: "=") else { return [word] }
        return [String(word[..<place]), String(word[word.index(after: place)...])]
    }

    /// What `--help` prints.
    static func help(_ program: String, does what: String) -> String {
        """
        \(program): \(what), as a worker of a foreign pool of Imagebus.

          --runtime-dir PATH   of the stack for which it works (IMAGEBUS_RUNTIME_DIR)
          --pool NAME          of the configuration (IMAGEBUS_POOL)
          --arena-limit BYTES  of shared memory at most; 1 GiB where nothing is said
          --log-level LEVEL    debug, info, warning or error
          --log-format FORM    text or json

        Where `imagebus serve` starts it, by a command of the pool, it needs no arguments.

        """
    }
}
