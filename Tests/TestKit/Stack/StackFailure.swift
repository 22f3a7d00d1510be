import Glibc
import Linux

/// A failure of a program under test, with the end of its log.
public struct StackFailure: Error, CustomStringConvertible {
    /// A sentence, then lines of the log.
    public let description: String

    /// States which event was expected and didn't happen, or happened unexpectedly.
    public init(_ sentence: String, log: String = "") {
        description = log.isEmpty ? sentence : "\(sentence)\n\(LogTail.text(log))"
    }
}

extension StackFailure {
    /// One line: a program doesn't exist, and how to build or install it.
    init(missing program: String) {
        let isOurs = program.hasPrefix(Programs.folder + "/")
        self.init(
            "\(program) does not exist: run scripts/"
                + (isOurs ? "test, or scripts/build --test-programs" : "setup --test"))
    }

    /// One line: a program can't be started.
    init(starting program: String, _ error: Errno) {
        if access(program, F_OK) == 0 {
            self.init("\(program) cannot be started: \(error)")
        } else {
            self.init(missing: program)
        }
    }
}

/// The end of a log file.
public enum LogTail {
    /// The last lines of the file at `path`, each marked.
    public static func text(_ path: String, lines count: Int = 40) -> String {
        let text = String(decoding: FileBytes.read(path) ?? [], as: UTF8.self)
        let lines = text.split(separator: "\n").suffix(count)
        return (["the last lines of \(path):"] + lines.map { "  | \($0)" })
            .joined(separator: "\n")
    }

    private static let columnsMax = 500

    /// The last line that gives a reason: the last error if the lines are an Imagebus log,
    /// otherwise the last line.
    static func reason(in lines: [Substring]) -> String {
        let errors = lines.filter { isError($0) && !$0.contains("see its message above") }
        guard let line = errors.last ?? lines.last else { return "nothing was written to stderr" }
        return String(line.prefix(columnsMax))
    }

    /// `TIME error PROGRAM[PID]: …`, or the same as JSON.
    private static func isError(_ line: Substring) -> Bool {
        let words = line.split(separator: " ", maxSplits: 3)
        return isLogLine(line)
            && (words.dropFirst().first == "error" || line.contains("\"level\":\"error\""))
    }

    /// Whether the line was logged by an Imagebus program.
    static func isLogLine(_ line: Substring) -> Bool {
        let words = line.split(separator: " ", maxSplits: 3)
        return line.hasPrefix("{\"time\":") || (words.count > 2 && words[2].hasSuffix("]:"))
    }
}

extension Duration {
    /// The duration in whole milliseconds, rounded up.
    public var milliseconds: Int {
        let (seconds, attoseconds) = components
        return Int(seconds) * 1000
            + Int((attoseconds + 999_999_999_999_999) / 1_000_000_000_000_000)
    }
}
