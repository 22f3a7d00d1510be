/// A command line that makes no sense; exit status 64.
package struct UsageError: Error, Hashable {
    /// What is wrong, and what to do.
    package let message: String

    package init(_ message: String) { self.message = message }
}
