public import TestKit

/// What the processes of a stack logged, with `--log-format json`.
public struct LogLines {
    /// Each line.
    public let lines: [JSONValue]
    /// All of it.
    public let text: String

    /// Reads all that there is now; throws where a line is no JSON.
    public init(_ stack: StackHarness) throws {
        text = FileBytes.text(stack.logFile) ?? ""
        lines = try text.split(separator: "\n").map { try JSONValue(parsing: Array($0.utf8)) }
    }

    /// Those with that message.
    public func saying(_ message: String) -> [JSONValue] {
        lines.filter { $0["message"]?.text == message }
    }

    /// The programs with a line of that request id.
    public func programs(naming requestID: String) -> Set<String> {
        Set(lines.filter { $0["requestId"]?.text == requestID }.compactMap { $0["program"]?.text })
    }

    /// The programs with a line of that trace.
    public func programs(tracing trace: String) -> Set<String> {
        Set(lines.filter { $0["trace"]?.text == trace }.compactMap { $0["program"]?.text })
    }
}
