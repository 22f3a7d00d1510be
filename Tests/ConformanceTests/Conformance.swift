import StackKit
import Testing

/// SDWebImage's behavior case by case, numbered as in `CASES.md`, and what each of its options
/// does (`OPTIONS.md`), seen from outside: real processes and a real origin. One test at a time:
/// they share a stack and two cores.
@Suite(.serialized, .sharedStack, .compactMapIssues(StackLog.show))
struct Conformance {}

extension StackLog {
    /// A failed expectation says little without what the processes said.
    @Sendable static func show(_ issue: Issue) -> Issue? {
        show()
        return issue
    }
}
