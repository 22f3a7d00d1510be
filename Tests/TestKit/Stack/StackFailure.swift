/// What went wrong with a program under test, with what it logged last.
public struct StackFailure: Error, CustomStringConvertible {
    /// A sentence, then lines of the log.
    public let description: String

    /// Names what was awaited and did not come, or came and should not have.
    public init(_ sentence: String, log: String = "") {
        description = log.isEmpty ? sentence : "\(sentence)\n\(LogTail.text(log))"
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
}

extension Duration {
    /// Whole milliseconds, rounded up.
    public var milliseconds: Int {
        let (seconds, attoseconds) = components
        return Int(seconds) * 1000
            + Int((attoseconds + 999_999_999_999_999) / 1_000_000_000_000_000)
    }
}
