/// End-to-end tests with `imagebus serve`, `imagebus get`, the client library and a real HTTP
/// server. One stack at a time, since they share two cores.
@Suite(.serialized, .compactMapIssues(StackLog.show))
struct RealProcesses {}

extension StackLog {
    /// Prints the end of the log, since a failed expectation is hard to explain without it.
    @Sendable static func show(_ issue: Issue) -> Issue? {
        show()
        return issue
    }
}
