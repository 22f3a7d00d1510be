/// A command line that makes no sense; exit status 64.
struct UsageError: Error, Hashable {
    /// What is wrong, and what to do.
    let message: String

    init(_ message: String) { self.message = message }
}
