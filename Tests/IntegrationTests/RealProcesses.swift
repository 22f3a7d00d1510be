import StackKit
import Testing

/// Everything that is seen from outside: `imagebus serve`, `imagebus get`, the client library and a
/// real HTTP server. One stack at a time, since they share two cores.
@Suite(.serialized, .compactMapIssues(StackLog.show))
struct RealProcesses {}

extension StackLog {
    /// A failed expectation says little without what the processes said.
    @Sendable static func show(_ issue: Issue) -> Issue? {
        show()
        return issue
    }
}
