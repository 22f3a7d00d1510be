import Glibc

/// A folder with the programs under test, some of which get additional arguments or environment
/// variables besides those from `serve`.
public final class AlteredPrograms {
    private let folder = TemporaryDirectory()

    /// Wraps the programs in `names`, limited to `descriptors` open descriptors; the others are
    /// links.
    public init(
        _ names: String..., arguments: [String] = [], variables: [String: String] = [:],
        descriptors: Int? = nil
    ) {
        for program: TestedProgram in [.coordinator, .download, .cache, .decode, .transform] {
            let (file, path) = (program.rawValue, Programs.place(of: program))
            if names.contains(file) {
                let words = arguments.map { "'\($0)'" }.joined(separator: " ")
                let limit = descriptors.map { "ulimit -n \($0)\n" } ?? ""
                let sets = variables.map { "export \($0)='\($1)'\n" }.joined()
                // Variables such as `LD_PRELOAD` are set with `env`: a preloaded library that
                // itself sets variables must do so in that process, since Swift's runtime locates
                // the arguments next to the environment where the kernel put it.
                let script = "#!/bin/sh\n\(limit)\(sets)exec env '\(path)' \(words) \"$@\"\n"
                folder.write(Array(script.utf8), to: file)
                precondition(chmod(folder.file(file), 0o700) == 0, "chmod: \(errno)")
            } else {
                precondition(symlink(path, folder.file(file)) == 0, "symlink: \(errno)")
            }
        }
    }

    /// The environment that makes `serve` use this folder.
    public var environment: [String: String] { ["IMAGEBUS_PROGRAMS": folder.path] }
}
