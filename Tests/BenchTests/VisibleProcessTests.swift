import Linux
import Messages
import Testing

@testable import imagebus_bench

struct VisibleProcessTests {
    /// A stack in containers names processes by numbers that are others' here.
    @Test func aProcessOfAnotherNameIsNotLookedAt() {
        let status = StatusReport.ProcessStatus(
            kind: .decode, pid: UInt32(CurrentProcess.processID), state: "ready", restarts: 0,
            jobs: 0)
        #expect(VisibleProcess.id(of: status) == nil)
    }
}
