import TestKit

/// What the processes of a stack logged, with `--log-format json`.
struct LogLines {
    let lines: [JSONValue]
    let text: String

    init(_ stack: StackHarness) throws {
        text = FileBytes.text(stack.logFile) ?? ""
        lines = try text.split(separator: "\n").map { try JSONValue(parsing: Array($0.utf8)) }
    }

    /// Those with that message.
    func saying(_ message: String) -> [JSONValue] {
        lines.filter { $0["message"]?.text == message }
    }

    /// The programs with a line of that trace.
    func programs(tracing trace: String) -> Set<String> {
        Set(lines.filter { $0["trace"]?.text == trace }.compactMap { $0["program"]?.text })
    }
}
