import Glibc

/// One run of a system tool, for its output.
struct Command {
    let status: Int32
    let output: String

    /// Runs `arguments`, the program first, and waits. Standard error is included in the output.
    static func run(_ arguments: [String]) -> Command? {
        let line = arguments.map(quoted).joined(separator: " ") + " 2>&1 </dev/null"
        guard let pipe = popen(line, "r") else { return nil }
        var bytes: [UInt8] = []
        var chunk = [UInt8](repeating: 0, count: 4_096)
        while true {
            let count = fread(&chunk, 1, chunk.count, pipe)
            if count == 0 { break }
            bytes += chunk[..<count]
        }
        let status = pclose(pipe)
        return Command(status: status, output: String(decoding: bytes, as: UTF8.self))
    }

    private static func quoted(_ argument: String) -> String {
        "'"
            + argument.split(separator: "'", omittingEmptySubsequences: false)
            .joined(separator: "'\\''") + "'"
    }
}
