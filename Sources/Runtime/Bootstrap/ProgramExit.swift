/// With which status a program of the stack ends; the supervisor reads them.
public enum ProgramExit {
    /// Done, or told to end.
    public static let success: Int32 = 0
    /// Arguments that make no sense: starting it again would not help.
    public static let usage: Int32 = 64
    /// A defect, or a system that does not give what every process needs.
    public static let internalError: Int32 = 70
    /// Ended for its own good, such as recycled or cancelled hard: start the next one.
    public static let startAgain: Int32 = 75
    /// A setting that cannot be used, such as a cache directory that another process holds.
    public static let configuration: Int32 = 78

    /// The status for an error that ends a program.
    public static func status(of error: any Error) -> Int32 {
        switch error {
        case is ProgramArgumentsError: usage
        case is ConfigurationError: configuration
        default: internalError
        }
    }
}

/// A setting that cannot be used; says what to do.
public struct ConfigurationError: Error, Hashable, Sendable, CustomStringConvertible {
    /// One sentence.
    public let description: String

    /// Takes a sentence.
    public init(_ sentence: String) { description = sentence }
}
