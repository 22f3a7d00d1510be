import Linux

/// Programs in `Examples/Python`, run with the Python environment that `scripts/python-venv`
/// creates.
public enum PythonExample {
    /// Starts a program, which ends when its last reference is released. Throws if the Python
    /// environment doesn't exist.
    public static func start(_ script: String, _ arguments: [String]) throws -> CommandLineRun {
        let words = try command(script, arguments)
        return try CommandLineRun(program: words[0], Array(words.dropFirst()))
    }

    /// The command that starts a program, also usable as `command` of a pool.
    public static func command(_ script: String, _ arguments: [String] = []) throws -> [String] {
        let python = RepositoryRoot.file(".build/python/Examples/Python/.venv/bin/python")
        guard (try? FileDescriptor.open(python)) != nil else {
            throw StackFailure("there is no \(python): run scripts/python-venv")
        }
        return [python, "-B", RepositoryRoot.file("Examples/Python/\(script)")] + arguments
    }
}
