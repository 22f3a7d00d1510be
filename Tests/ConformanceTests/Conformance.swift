import StackKit
import Testing

/// SDWebImage's behavior case by case, numbered as in `CASES.md`, and the effect of each of its
/// options (`OPTIONS.md`), tested from outside with real processes and a real origin. One test at a
/// time, since tests share a stack and two cores.
@Suite(.serialized, .sharedStack, .compactMapIssues(StackLog.show))
struct Conformance {}

extension StackLog {
    /// Prints the end of the log, since a failed expectation is hard to explain without it.
    @Sendable static func show(_ issue: Issue) -> Issue? {
        show()
        return issue
    }
}
