import Linux
import Model
import Testing

@testable import Supervision

/// A drain starts no process that is no longer needed. Slots that wait for their next start are
/// given up together with the processes that they serve: fronts when the drain begins, the
/// coordinator after the fronts, workers after the coordinator.
@Suite struct DrainTests {
    private let backOff = RestartPolicy.firstDelayMilliseconds

    /// All slots run, except for `slot`, which is in backoff after repeated crashes.
    private func script(_ kinds: [ProcessKind], waiting slot: Int) -> Script {
        var script = Script(ready: kinds)
        crashRepeatedly(slot, &script)
        return script
    }

    private func crashRepeatedly(_ slot: Int, _ script: inout Script) {
        for _ in 1..<RestartPolicy.endsBeforeBackoff { script.does(.ended(slot: slot, crash)) }
        let last = script.does(.ended(slot: slot, crash))
        #expect(last == [.report(.backingOff(milliseconds: backOff), slot: slot)])
    }

    @Test func workersThatWaitAreGivenUpAfterTheCoordinator() {
        var script = script([.coordinator, .decode], waiting: 1)
        #expect(script.does(.stopRequested) == [.report(.draining), .signal(slot: 0, .terminate)])
        #expect(script.does(.ended(slot: 0, .exited(0))) == [.finish(.drained)])
        #expect(script.state.nextDeadline == nil)
    }

    @Test func workersThatWaitAreNotStartedOnceTheCoordinatorHasEnded() {
        var script = Script(ready: [.coordinator, .decode, .download])
        script.does(.stopRequested)
        crashRepeatedly(1, &script)
        #expect(script.does(.ended(slot: 0, .exited(0))) == [])
        #expect(script.ticks(after: backOff) == [])
        #expect(script.does(.ended(slot: 2, .exited(0))) == [.finish(.drained)])
    }

    /// The coordinator still finishes admitted requests, and needs workers for that.
    @Test func workersThatWaitAreStartedWhileTheCoordinatorDrains() {
        var script = script([.coordinator, .decode], waiting: 1)
        script.does(.stopRequested)
        #expect(script.ticks(after: backOff) == [.spawn(slot: 1, restarts: 3)])
        #expect(script.does(.ended(slot: 0, .exited(0))) == [])
        #expect(script.does(.ended(slot: 1, .exited(0))) == [.finish(.drained)])
    }

    @Test func workersThatWaitAreGivenUpWithoutACoordinator() {
        var script = script([.decode, .decode], waiting: 0)
        #expect(script.does(.stopRequested) == [.report(.draining), .signal(slot: 1, .terminate)])
        #expect(script.ticks(after: backOff) == [])
        #expect(script.does(.ended(slot: 1, .exited(0))) == [.finish(.drained)])
    }

    @Test func frontsThatWaitAreGivenUpAtOnce() {
        var script = script([.coordinator, .decode, .gateway], waiting: 2)
        #expect(script.does(.stopRequested) == [.report(.draining), .signal(slot: 0, .terminate)])
        #expect(script.ticks(after: backOff) == [])
        script.does(.ended(slot: 0, .exited(0)))
        #expect(script.does(.ended(slot: 1, .exited(0))) == [.finish(.drained)])
    }

    /// No process sends requests to it any longer.
    @Test func aCoordinatorThatWaitsIsGivenUpWithTheFronts() {
        var script = script([.coordinator, .decode, .gateway], waiting: 0)
        #expect(script.does(.stopRequested) == [.report(.draining), .signal(slot: 2, .terminate)])
        #expect(script.does(.ended(slot: 2, .exited(0))) == [.signal(slot: 1, .terminate)])
        #expect(script.ticks(after: backOff) == [])
        #expect(script.does(.ended(slot: 1, .exited(0))) == [.finish(.drained)])
    }

    /// Fronts still answer requests, and need it for that.
    @Test func aCoordinatorThatWaitsIsStartedWhileFrontsEnd() {
        var script = script([.coordinator, .decode, .gateway], waiting: 0)
        script.does(.stopRequested)
        #expect(script.ticks(after: backOff - 1) == [])
        #expect(script.ticks(after: 1) == [.spawn(slot: 0, restarts: 3)])
        #expect(script.does(.ended(slot: 2, .exited(0))) == [.signal(slot: 0, .terminate)])
    }

    @Test func whatWaitsIsGivenUpByAKill() {
        var script = script([.coordinator, .decode], waiting: 1)
        script.does(.stopRequested)
        #expect(script.does(.stopRequested) == [.signal(slot: 0, .kill)])
        #expect(script.ticks(after: backOff) == [])
        #expect(script.does(.ended(slot: 0, killed)) == [.finish(.forced)])
    }

    /// Both limits hold to the millisecond.
    @Test func workersAreToldAfterTheirGraceAndKilledAfterTheLimit() {
        var script = Script(ready: [.coordinator, .decode])
        script.does(.stopRequested)
        script.does(.ended(slot: 0, .exited(0)))
        #expect(script.ticks(after: SupervisorState.workersGraceMilliseconds - 1) == [])
        #expect(script.ticks(after: 1) == [.signal(slot: 1, .terminate)])
        #expect(script.does(.tick) == [], "they are signaled once")
        let left = SupervisorState.drainMilliseconds - SupervisorState.workersGraceMilliseconds
        #expect(!script.ticks(after: left - 1).contains(.signal(slot: 1, .kill)))
        #expect(script.ticks(after: 1) == [.signal(slot: 1, .kill)])
        #expect(script.does(.ended(slot: 1, killed)) == [.finish(.limitPassed)])
    }
}
