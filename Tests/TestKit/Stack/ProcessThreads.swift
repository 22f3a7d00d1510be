import Linux

/// The state of the threads of a process and its children, to diagnose a process that doesn't end
/// in time.
enum ProcessThreads {
    /// One line per thread with name, state and kernel function; limited to what fits a log.
    static func text(of process: Int32) -> String {
        let lines = family(of: process).flatMap { id in threads(of: id) }
        return (["the threads of \(process) and its children:"] + lines.prefix(Self.linesMax))
            .map { "  | \($0)" }.joined(separator: "\n")
    }

    private static let linesMax = 80

    private static func family(of process: Int32) -> [Int32] {
        [process] + ObservedProcess.children(of: process).flatMap { family(of: $0.processID) }
    }

    private static func threads(of process: Int32) -> [String] {
        DirectoryEntries.names("/proc/\(process)/task").map { task in
            let folder = "/proc/\(process)/task/\(task)"
            let name = line("\(folder)/comm")
            let state = words("\(folder)/status").drop { $0 != "State:" }.dropFirst().first
            return "\(process) \(task) \(name): \(state ?? "?") \(line("\(folder)/wchan")) "
                + line("\(folder)/syscall")
        }
    }

    private static func line(_ path: String) -> String {
        String((FileBytes.text(path) ?? "?").prefix { $0 != "\n" })
    }

    private static func words(_ path: String) -> [String] {
        (FileBytes.text(path) ?? "").split { $0 == " " || $0 == "\n" || $0 == "\t" }
            .map(String.init)
    }
}
