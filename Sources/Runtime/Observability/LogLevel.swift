/// How much a line matters; a log writes the lines of its own level and above.
public enum LogLevel: String, CaseIterable, Comparable, Sendable {
    /// Every step, for those who look for a fault.
    case debug
    /// What an operator wants to see in a quiet hour.
    case info
    /// Something failed and was dealt with.
    case warning
    /// Something failed, and somebody should look.
    case error

    private var rank: Int {
        switch self {
        case .debug: 0
        case .info: 1
        case .warning: 2
        case .error: 3
        }
    }

    /// Lesser levels matter less.
    public static func < (left: LogLevel, right: LogLevel) -> Bool {
        left.rank < right.rank
    }
}

/// How a line is written.
public enum LogFormat: String, CaseIterable, Sendable {
    /// For people: time, level, program, message, then `key=value`.
    case text
    /// For machines: one JSON object a line.
    case json
}
