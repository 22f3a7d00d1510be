import TestKit

/// The log of the stack of the running test.
public enum StackLog {
    /// Where it lies; nil where no stack runs.
    @TaskLocal public static var path: String?

    /// Prints its end: a failed expectation says little without what the processes said.
    public static func show() {
        if let path { print(LogTail.text(path)) }
    }
}
