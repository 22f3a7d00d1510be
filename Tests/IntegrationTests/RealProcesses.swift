import TestKit
import Testing

/// Everything that is seen from outside: `imagebus serve`, `imagebus get`, the client library and a
/// real HTTP server. One stack at a time, since they share two cores.
@Suite(.serialized, .compactMapIssues(StackLog.show))
struct RealProcesses {}

/// The log of the stack of the running test.
enum StackLog {
    @TaskLocal static var path: String?

    /// A failed expectation says little without what the processes said.
    @Sendable static func show(_ issue: Issue) -> Issue? {
        if let path { print(LogTail.text(path)) }
        return issue
    }
}
