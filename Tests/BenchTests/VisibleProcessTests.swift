import Linux
import Model
import Testing

@testable import imagebus_bench

struct VisibleProcessTests {
    /// A containerized stack reports process IDs that belong to other processes in this namespace.
    @Test func aProcessOfAnotherNameIsNotLookedAt() {
        let status = StatusReport.ProcessStatus(
            kind: .decode, pid: UInt32(CurrentProcess.processID), state: "ready", restarts: 0,
            jobs: 0)
        #expect(VisibleProcess.id(of: status) == nil)
    }
}
