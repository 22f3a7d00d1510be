public import TestKit

/// The log of the processes of a stack, with `--log-format json`.
public struct LogLines {
    /// The parsed lines.
    public let lines: [JSONValue]
    /// The whole log as text.
    public let text: String

    /// Reads the current log; throws if a line isn't JSON.
    public init(_ stack: StackHarness) throws {
        text = FileBytes.text(stack.logFile) ?? ""
        lines = try text.split(separator: "\n").map { try JSONValue(parsing: Array($0.utf8)) }
    }

    /// The lines with that message.
    public func saying(_ message: String) -> [JSONValue] {
        lines.filter { $0["message"]?.text == message }
    }

    /// The programs that logged a line with that request id.
    public func programs(naming requestID: String) -> Set<String> {
        Set(lines.filter { $0["requestId"]?.text == requestID }.compactMap { $0["program"]?.text })
    }

    /// The programs that logged a line with that trace id.
    public func programs(tracing trace: String) -> Set<String> {
        Set(lines.filter { $0["trace"]?.text == trace }.compactMap { $0["program"]?.text })
    }
}
