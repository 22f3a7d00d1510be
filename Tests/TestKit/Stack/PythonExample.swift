import Linux

/// A program of `Examples/Python`, in the Python that `scripts/python-venv` makes.
public enum PythonExample {
    /// Starts it; it ends with its last reference. Throws where its Python is not there.
    public static func start(_ script: String, _ arguments: [String]) throws -> CommandLineRun {
        let python = RepositoryRoot.file(".build/python/Examples/Python/.venv/bin/python")
        guard (try? FileDescriptor.open(python)) != nil else {
            throw StackFailure("there is no \(python): run scripts/python-venv")
        }
        let path = RepositoryRoot.file("Examples/Python/\(script)")
        return try CommandLineRun(program: python, ["-B", path] + arguments)
    }
}
