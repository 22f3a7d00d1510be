import TestKit

/// The log of the stack of the running test.
public enum StackLog {
    /// The path of the log; nil if no stack is running.
    @TaskLocal public static var path: String?

    /// Prints the end of the log, since a failed expectation is hard to explain without it.
    public static func show() {
        if let path { print(LogTail.text(path)) }
    }
}
