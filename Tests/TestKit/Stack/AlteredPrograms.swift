import Glibc

/// A folder with the programs under test, in which some of them get more arguments or variables
/// than `serve` gives them.
public final class AlteredPrograms {
    private let folder = TemporaryDirectory()

    /// Alters `names`, which may have so many `descriptors`; the others are links.
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
                // A preloaded library that sets variables does so in `env`: Swift's runtime looks
                // for the arguments beside an environment that is where the kernel put it.
                let script = "#!/bin/sh\n\(limit)\(sets)exec env '\(path)' \(words) \"$@\"\n"
                folder.write(Array(script.utf8), to: file)
                precondition(chmod(folder.file(file), 0o700) == 0, "chmod: \(errno)")
            } else {
                precondition(symlink(path, folder.file(file)) == 0, "symlink: \(errno)")
            }
        }
    }

    /// Lets `serve` find them.
    public var environment: [String: String] { ["IMAGEBUS_PROGRAMS": folder.path] }
}
