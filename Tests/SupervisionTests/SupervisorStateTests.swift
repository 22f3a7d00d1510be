import Linux
import Model
import Testing

@testable import Supervision

@Suite struct SupervisorStateTests {
    private static let stack: [ProcessKind] = [.coordinator, .cache, .download, .decode]

    @Test func everySlotIsStartedAndTheStackIsReadyOnceAllAreWelcomed() {
        var script = Script(Self.stack)
        #expect(script.does(.start) == (0..<4).map { .spawn(slot: $0, restarts: 0) })
        #expect(script.does(.welcomed(slot: 1, life(1))) == [])
        #expect(script.does(.welcomed(slot: 0, life(0))) == [])
        #expect(script.does(.welcomed(slot: 3, life(3))) == [])
        #expect(script.does(.welcomed(slot: 2, life(2))) == [.report(.ready)])
        #expect(script.state.nextDeadline == nil)
    }

    /// Its failures have no effect: the stack is ready without it, and continues.
    @Test func somebodyElsesProgramDecidesNothing() {
        var script = Script([.coordinator, .download, .download], external: [2])
        script.does(.start)
        #expect(script.does(.welcomed(slot: 0, life(0))) == [])
        #expect(script.does(.ended(slot: 2, .exited(78))) == [.spawn(slot: 2, restarts: 1)])
        #expect(script.does(.spawnFailed(slot: 2)) == [.spawn(slot: 2, restarts: 2)])
        #expect(script.does(.welcomed(slot: 1, life(1))) == [.report(.ready)])
        #expect(
            script.does(.ended(slot: 2, .exited(64)))
                == [.report(.backingOff(milliseconds: 100), slot: 2)])
        #expect(script.state.healthLine() == "{\"coordinator\":\"ok\",\"download\":\"ok\"}\n")
        #expect(script.ticks(after: 100) == [.spawn(slot: 2, restarts: 3)])
        #expect(script.does(.welcomed(slot: 2, life(2))) == [])
        // It owns its segments, so none are removed. The welcome is its own claim, and resets no
        // backoff.
        #expect(
            script.does(.ended(slot: 2, killed))
                == [.report(.backingOff(milliseconds: 200), slot: 2)])
        #expect(script.ticks(after: 200) == [.spawn(slot: 2, restarts: 4)])
        #expect(script.ticks(after: SupervisorState.orphanGraceMilliseconds) == [])
        #expect(script.does(.stopRequested).first == .report(.draining))
    }

    @Test func theStackIsAnnouncedOnceAndNotAfterARestart() {
        var script = Script(ready: Self.stack)
        #expect(script.does(.ended(slot: 3, killed)) == [.spawn(slot: 3, restarts: 1)])
        #expect(script.does(.welcomed(slot: 3, life(4))) == [])
    }

    @Test func aChildThatDiedBeforeItWasReadyMustBeWelcomedAgain() {
        var script = Script([.coordinator, .cache])
        script.does(.start)
        script.does(.welcomed(slot: 0, life(0)))
        script.does(.ended(slot: 0, killed))
        #expect(script.does(.welcomed(slot: 1, life(1))) == [])
        #expect(script.does(.welcomed(slot: 0, life(2))) == [.report(.ready)])
    }

    @Test func aCrashLoopWaitsForItsTime() {
        var script = Script(ready: Self.stack)
        for restart in 1...2 {
            #expect(
                script.does(.ended(slot: 2, crash)).first
                    == .spawn(slot: 2, restarts: UInt32(restart)))
        }
        #expect(
            script.does(.ended(slot: 2, crash)) == [
                .report(.backingOff(milliseconds: 100), slot: 2)
            ])
        #expect(script.ticks(after: 99) == [])
        #expect(script.ticks(after: 1) == [.spawn(slot: 2, restarts: 3)])
    }

    @Test func sigtermDrainsTheCoordinatorFirstAndWorkersEndByThemselves() {
        var script = Script(ready: Self.stack)
        #expect(
            script.does(.stopRequested) == [.report(.draining), .signal(slot: 0, .terminate)])
        #expect(script.does(.ended(slot: 3, .exited(0))) == [])
        #expect(script.does(.ended(slot: 0, .exited(0))) == [])
        #expect(script.does(.ended(slot: 1, .exited(0))) == [])
        #expect(script.does(.ended(slot: 2, .exited(0))) == [.finish(.drained)])
        #expect(script.state.nextDeadline == nil)
    }

    @Test func workersThatStayAfterTheirCoordinatorAreTold() {
        var script = Script(ready: Self.stack)
        script.does(.stopRequested)
        script.does(.ended(slot: 0, .exited(0)))
        script.does(.ended(slot: 2, .exited(0)))
        #expect(
            script.ticks(after: SupervisorState.workersGraceMilliseconds) == [
                .signal(slot: 1, .terminate), .signal(slot: 3, .terminate),
            ])
    }

    @Test func workersWithoutACoordinatorAreToldAtOnce() {
        var script = Script(ready: [.decode, .decode])
        #expect(
            script.does(.stopRequested)
                == [.report(.draining), .signal(slot: 0, .terminate), .signal(slot: 1, .terminate)])
    }

    @Test func aWorkerThatDiesWhileTheCoordinatorDrainsComesBack() {
        var script = Script(ready: Self.stack)
        script.does(.stopRequested)
        #expect(script.does(.ended(slot: 3, killed)) == [.spawn(slot: 3, restarts: 1)])
        script.does(.ended(slot: 0, .exited(0)))
        #expect(script.does(.ended(slot: 3, killed)) == [])
    }

    @Test func theLimitOfADrainKillsWhatIsLeft() {
        var script = Script(ready: Self.stack)
        script.does(.stopRequested)
        script.does(.ended(slot: 1, .exited(0)))
        #expect(
            script.ticks(after: SupervisorState.drainMilliseconds) == [
                .removeSegments(.cache, life(1)), .signal(slot: 0, .kill),
                .signal(slot: 2, .kill), .signal(slot: 3, .kill),
            ])
        script.does(.ended(slot: 0, killed))
        script.does(.ended(slot: 2, killed))
        #expect(script.does(.ended(slot: 3, killed)) == [.finish(.limitPassed)])
    }

    /// It is blocked in the kernel by a disk that doesn't respond.
    @Test func aChildThatDoesNotEndByAKillIsNotWaitedFor() {
        var script = Script(ready: Self.stack)
        script.does(.stopRequested)
        script.does(.stopRequested)
        for slot in [0, 2, 3] { script.does(.ended(slot: slot, killed)) }
        #expect(script.ticks(after: SupervisorState.killMilliseconds - 1) == [])
        script.passes(milliseconds: 1)
        #expect(script.state.nextDeadline.map { $0 <= script.now } == true)
        #expect(script.does(.tick) == [.report(.unkilled, slot: 1), .finish(.forced)])
    }

    @Test func aSecondSignalKillsAllAtOnceAndNothingComesBack() {
        var script = Script(ready: Self.stack)
        script.does(.stopRequested)
        #expect(
            script.does(.stopRequested) == (0..<4).map { .signal(slot: $0, .kill) })
        #expect(script.does(.stopRequested) == [])
        for slot in 0..<3 { #expect(script.does(.ended(slot: slot, killed)) == []) }
        #expect(script.does(.ended(slot: 3, killed)) == [.finish(.forced)])
    }

    @Test func aSlotThatWaitsIsNotStartedByADrain() {
        var script = Script(ready: [.decode])
        for _ in 0..<3 { script.does(.ended(slot: 0, crash)) }
        #expect(script.does(.stopRequested) == [.report(.draining), .finish(.drained)])
    }

    @Test(arguments: SupervisorState.refusals)
    func aChildThatCanNeverStartEndsTheStack(_ code: Int32) {
        var script = Script([.coordinator, .cache])
        script.does(.start)
        script.does(.welcomed(slot: 0, life(0)))
        #expect(
            script.does(.ended(slot: 1, .exited(code)))
                == [
                    .report(.refused(code: code), slot: 1), .report(.draining),
                    .signal(slot: 0, .terminate),
                ])
        #expect(script.does(.ended(slot: 0, .exited(0))) == [.finish(.refused(code))])
    }

    @Test func theSameCodeOfAStackThatWasReadyIsAFailureLikeOthers() {
        var script = Script(ready: [.coordinator, .cache])
        #expect(
            script.does(.ended(slot: 1, .exited(78))) == [.spawn(slot: 1, restarts: 1)])
    }

    @Test func aProgramThatIsNotThereEndsTheStartOfTheStack() {
        var script = Script([.coordinator, .cache])
        script.does(.start)
        #expect(
            script.does(.spawnFailed(slot: 1))
                == [.report(.draining), .signal(slot: 0, .terminate)])
        #expect(script.does(.ended(slot: 0, killed)) == [.finish(.refused(70))])
    }

    @Test func aProgramThatCannotBeRestartedIsTriedAgain() {
        var script = Script(ready: [.decode])
        script.does(.ended(slot: 0, killed))
        #expect(script.does(.spawnFailed(slot: 0)) == [.spawn(slot: 0, restarts: 2)])
        script.does(.spawnFailed(slot: 0))
        #expect(
            script.does(.spawnFailed(slot: 0)) == [.report(.backingOff(milliseconds: 100), slot: 0)]
        )
    }

    @Test func segmentsOfADeadChildGoAfterTheirGrace() {
        var script = Script(ready: [.coordinator, .decode])
        script.does(.ended(slot: 1, killed))
        script.does(.welcomed(slot: 1, life(2)))
        #expect(script.ticks(after: SupervisorState.orphanGraceMilliseconds - 1) == [])
        #expect(script.ticks(after: 1) == [.removeSegments(.decode, life(1))])
        #expect(script.state.nextDeadline == nil)
    }

    @Test func aChildThatSaysNothingIsKilledAndStartedAgain() {
        var script = Script([.coordinator, .decode])
        script.does(.start)
        script.does(.welcomed(slot: 0, life(0)))
        #expect(script.ticks(after: SupervisorState.startMilliseconds - 1) == [])
        #expect(script.state.nextDeadline == script.now.adding(milliseconds: 1))
        #expect(script.ticks(after: 1) == lateStart(slot: 1))
        #expect(script.does(.tick) == [], "it is being killed")
        #expect(script.does(.ended(slot: 1, killed)) == [.spawn(slot: 1, restarts: 1)])
        #expect(script.ticks(after: SupervisorState.startMilliseconds) == lateStart(slot: 1))
    }

    /// Under `serve --only` the coordinator is managed elsewhere, and may start at any time.
    @Test func aWorkerWaitsForItsCoordinatorAsLongAsItTakes() {
        var script = Script([.decode])
        script.does(.start)
        #expect(script.does(.begun(slot: 0, life(1))) == [])
        #expect(script.ticks(after: 100 * SupervisorState.startMilliseconds) == [])
        #expect(script.state.healthLine().contains("1 of 1 not connected"))
        #expect(script.does(.welcomed(slot: 0, life(1))) == [.report(.ready)])
    }

    @Test func aWorkerThatHangsBeforeItsSessionIsKilledAndItsPageGoes() {
        var script = Script([.decode])
        script.does(.start)
        script.does(.begun(slot: 0, life(1)))
        var actions: [SupervisorAction] = []
        for _ in 0..<6 {
            #expect(actions == [])
            script.passes(milliseconds: 1_000)
            actions = script.does(.looked([0: 9]))
        }
        #expect(actions == [.report(.hangs(.fiveSeconds), slot: 0), .signal(slot: 0, .kill)])
        script.does(.ended(slot: 0, killed))
        #expect(
            script.ticks(after: SupervisorState.orphanGraceMilliseconds) == [
                .removeSegments(.decode, life(1))
            ])
    }

    /// Whatever delayed the supervisor, such as a paused container, may have delayed its children
    /// as well.
    @Test func aTickThatComesLateKillsNobodyWhoStarts() {
        var script = Script([.decode])
        script.does(.start)
        let lateness = SupervisorState.latenessMilliseconds + 1
        #expect(script.ticks(after: SupervisorState.startMilliseconds + lateness) == [])
        #expect(script.ticks(after: SupervisorState.startMilliseconds - 1) == [])
        #expect(script.ticks(after: 1) == lateStart(slot: 0, movedMilliseconds: 30_000))
    }

    @Test func whatAChildWaitsForAProcessorIsNoPartOfItsStart() {
        var script = Script([.decode])
        script.does(.start)
        script.passes(milliseconds: SupervisorState.startMilliseconds)
        #expect(script.does(.looked([:], waited: [0: 700])) == [])
        #expect(script.does(.tick) == [])
        #expect(script.ticks(after: 699) == [])
        #expect(script.ticks(after: 1) == lateStart(slot: 0, movedMilliseconds: 700))
    }

    @Test func aStartEndsWhateverItWaitsFor() {
        var script = Script([.decode])
        script.does(.start)
        var seconds = 0
        var actions: [SupervisorAction] = []
        while actions == [], seconds < 1_000 {
            seconds += 1
            script.passes(milliseconds: 1_000)
            #expect(script.does(.looked([:], waited: [0: 1_000])) == [])
            actions = script.does(.tick)
        }
        #expect(seconds == 120)
        #expect(actions == lateStart(slot: 0, movedMilliseconds: 90_000))
    }

    @Test func aSupervisorThatIsAlwaysLateEndsAStartInTheEnd() {
        var script = Script([.decode])
        script.does(.start)
        for _ in 1...3 {
            script.passes(milliseconds: SupervisorState.startMilliseconds + 1_000)
            #expect(script.does(.tick) == [])
        }
        #expect(
            script.ticks(after: SupervisorState.startMilliseconds + 1_000)
                == lateStart(slot: 0, movedMilliseconds: 90_000))
    }

    /// Data for a kill is collected only if a kill is possible.
    @Test func onlyWhoShowsNothingIsSilent() {
        var script = Script([.coordinator, .decode])
        script.does(.start)
        #expect(script.state.isSilent(1, counter: nil))
        script.does(.begun(slot: 1, life(1)))
        #expect(!script.state.isSilent(1, counter: nil), "it has no page")
        #expect(!script.state.isSilent(1, counter: 4))
        script.does(.looked([1: 4]))
        #expect(script.state.isSilent(1, counter: 4))
        #expect(!script.state.isSilent(1, counter: 5))
    }

    @Test func aChildThatWaitsForAProcessorIsNotKilled() {
        var script = Script(ready: [.coordinator, .decode])
        for _ in 0..<50 {
            script.passes(milliseconds: 1_000)
            #expect(script.does(.looked([1: 9], waited: [1: 990])) == [])
        }
    }

    @Test func aChildThatHangsIsKilledAndStartedAgainAtOnce() {
        var script = Script(ready: [.coordinator, .decode])
        var actions: [SupervisorAction] = []
        for look in 0..<6 {
            #expect(actions == [])
            script.passes(milliseconds: 1_000)
            actions = script.does(.looked([0: UInt64(look), 1: 9]))
        }
        #expect(actions == [.report(.hangs(.fiveSeconds), slot: 1), .signal(slot: 1, .kill)])
        #expect(script.does(.ended(slot: 1, killed)) == [.spawn(slot: 1, restarts: 1)])
    }
}

/// Fronts are told to stop first, while all others continue.
@Suite struct FrontTests {
    private static let stack: [ProcessKind] = [.coordinator, .decode, .gateway]

    @Test func frontsEndFirstAndThenTheStack() {
        var script = Script(ready: Self.stack)
        #expect(script.does(.stopRequested) == [.report(.draining), .signal(slot: 2, .terminate)])
        // Their pending requests are still served.
        #expect(script.does(.ended(slot: 1, killed)) == [.spawn(slot: 1, restarts: 1)])
        script.does(.welcomed(slot: 1, life(7)))
        #expect(script.does(.ended(slot: 2, .exited(0))) == [.signal(slot: 0, .terminate)])
        #expect(script.does(.ended(slot: 0, .exited(0))).isEmpty)
        #expect(script.does(.ended(slot: 1, .exited(0))) == [.finish(.drained)])
    }

    @Test func theStackWaitsForFrontsNoLongerThanTheirTime() {
        var script = Script(ready: Self.stack)
        script.does(.stopRequested)
        #expect(script.ticks(after: SupervisorState.frontsMilliseconds - 1).isEmpty)
        script.passes(milliseconds: 1)
        #expect(script.state.nextDeadline.map { $0 <= script.now } == true)
        #expect(script.does(.tick) == [.signal(slot: 0, .terminate)])
        script.does(.ended(slot: 0, .exited(0)))
        script.does(.ended(slot: 1, .exited(0)))
        #expect(
            script.ticks(after: SupervisorState.workersGraceMilliseconds) == [
                .signal(slot: 2, .terminate)
            ])
        #expect(script.does(.ended(slot: 2, .exited(70))) == [.finish(.drained)])
    }

    /// As in `serve --only gateway`.
    @Test func withoutACoordinatorFrontsHaveTheWholeDrain() {
        var script = Script(ready: [.gateway])
        #expect(script.does(.stopRequested) == [.report(.draining), .signal(slot: 0, .terminate)])
        #expect(script.ticks(after: SupervisorState.drainMilliseconds - 1).isEmpty)
        #expect(script.does(.ended(slot: 0, .exited(0))) == [.finish(.drained)])
    }

    @Test func aSecondSignalEndsAllNowAndAFrontThatDiesComesBack() {
        var script = Script(ready: Self.stack)
        #expect(script.does(.ended(slot: 2, .exited(0))) == [.spawn(slot: 2, restarts: 1)])
        script.does(.welcomed(slot: 2, life(8)))
        script.does(.stopRequested)
        #expect(
            script.does(.stopRequested) == (0...2).map { .signal(slot: $0, .kill) })
    }

    @Test func aFrontThatStandsStillIsKilled() {
        var script = Script(ready: Self.stack)
        var killed: [SupervisorAction] = []
        for _ in 0...6 {
            killed += script.does(.looked([2: 5]))
            script.passes(milliseconds: 1_000)
        }
        #expect(killed.contains(.signal(slot: 2, .kill)))
    }
}

extension Stall {
    /// A stall without any waiting for a processor.
    fileprivate static var fiveSeconds: Stall { lasting(looks: 5) }

    static func lasting(looks: Int, waitedMilliseconds waited: Int = 0) -> Stall {
        var stall = Stall()
        for _ in 0..<looks { stall.lasts(waitedMilliseconds: waited, isLate: false) }
        return stall
    }
}

/// The actions after a start that took too long.
private func lateStart(slot: Int, movedMilliseconds moved: Int = 0) -> [SupervisorAction] {
    [
        .report(
            .startsTooLong(
                milliseconds: SupervisorState.startMilliseconds, movedMilliseconds: moved),
            slot: slot), .signal(slot: slot, .kill),
    ]
}

let killed = ChildStatus.signaled(.kill, dumpedCore: false)
let crash = ChildStatus.signaled(.segmentationFault, dumpedCore: true)

func life(_ number: Int) -> Incarnation {
    Incarnation(Identifier128(high: 7, low: UInt64(number)))
}

/// A supervisor's state with a simulated clock.
struct Script {
    var state: SupervisorState
    private(set) var now = Instant(nanoseconds: 1_000_000)

    /// No process is started yet.
    init(
        _ kinds: [ProcessKind], external: Set<Int> = [],
        startMilliseconds: Int = SupervisorState.startMilliseconds
    ) {
        state = SupervisorState(
            kinds: kinds, external: external, startMilliseconds: startMilliseconds)
    }

    /// All slots are started and welcomed; slot N with `life(N)`.
    init(ready kinds: [ProcessKind]) {
        self.init(kinds)
        does(.start)
        for slot in kinds.indices { does(.welcomed(slot: slot, life(slot))) }
    }

    @discardableResult
    mutating func does(_ event: SupervisorEvent) -> [SupervisorAction] {
        var actions: [SupervisorAction] = []
        state.handle(event, at: now, into: &actions)
        return actions
    }

    /// Returns the actions at a time that many milliseconds from now.
    mutating func ticks(after milliseconds: Int) -> [SupervisorAction] {
        passes(milliseconds: milliseconds)
        return does(.tick)
    }

    mutating func passes(milliseconds: Int) { now = now.adding(milliseconds: milliseconds) }
}
