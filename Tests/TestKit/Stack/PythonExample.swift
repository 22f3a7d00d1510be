import Linux

/// A program of `Examples/Python`, in the Python that `scripts/python-venv` makes.
public enum PythonExample {
    /// Starts it; it ends with its last reference. Throws where its Python is not there.
    public static func start(_ script: String, _ arguments: [String]) throws -> CommandLineRun {
        let words = try command(script, arguments)
        return try CommandLineRun(program: words[0], Array(words.dropFirst()))
    }

    /// What starts it: as words, and as `command` of a pool has them.
    public static func command(_ script: String, _ arguments: [String] = []) throws -> [String] {
        let python = RepositoryRoot.file(".build/python/Examples/Python/.venv/bin/python")
        guard (try? FileDescriptor.open(python)) != nil else {
            throw StackFailure("there is no \(python): run scripts/python-venv")
        }
        return [python, "-B", RepositoryRoot.file("Examples/Python/\(script)")] + arguments
    }
}
