import Model
import Testing

@testable import Coordinator

/// The phases of a coordinator's shutdown, their order and their time limits.
@Suite struct ShutdownStateTests {
    @Test func aServingCoordinatorWaitsForNothing() {
        var script = Script()
        #expect(script.state.isServing)
        #expect(script.state.deadline == nil)
        #expect(!script.state.wantsCensus)
        #expect(script.does(.tick) == [])
        #expect(script.does(.requestsEnded) == [])
        #expect(script.does(.left(clients: 0, jobs: 0, workers: 0)) == [])
        #expect(script.state.isServing)
    }

    @Test func everyPhaseComesInItsOrder() {
        var script = Script()
        #expect(script.does(.stopRequested(isReplaced: false)) == [.report(.begun), .admitNothing])
        #expect(script.state.phase == .finishing && script.state.deadline == nil)
        #expect(script.does(.left(clients: 0, jobs: 0, workers: 0)) == [])
        #expect(script.does(.requestsEnded) == [])
        #expect(script.state.phase == .delivering && script.state.deadline == script.after(500))
        #expect(script.does(.left(clients: 1, jobs: 0, workers: 0)) == [])
        #expect(script.state.phase == .delivering && script.state.deadline == script.after(500))
        #expect(script.does(.left(clients: 0, jobs: 1, workers: 0)) == [])
        #expect(script.state.phase == .storing && script.state.deadline == script.after(1_000))
        #expect(script.does(.left(clients: 0, jobs: 1, workers: 0)) == [])
        #expect(script.does(.left(clients: 0, jobs: 0, workers: 4)) == [.dismissWorkers])
        #expect(script.state.phase == .dismissing && script.state.deadline == script.after(6_000))
        #expect(script.does(.left(clients: 0, jobs: 0, workers: 1)) == [])
        #expect(script.does(.left(clients: 0, jobs: 0, workers: 0)) == [.exit])
        #expect(script.state.phase == .ended)
        #expect(script.state.deadline == nil)
    }

    /// Workers are dismissed before the coordinator checks whether they have exited.
    @Test func phasesOfWhichNothingIsLeftPassAtOnceUpToTheDismissal() {
        var script = Script(in: .delivering)
        #expect(script.does(.left(clients: 0, jobs: 0, workers: 0)) == [.dismissWorkers])
        #expect(script.does(.left(clients: 0, jobs: 0, workers: 0)) == [.exit])
    }

    /// Workers reconnect one after the other to a coordinator that has just taken over.
    @Test func aWorkerThatJoinsDuringTheDismissalIsDismissed() {
        var script = Script(in: .storing)
        #expect(script.does(.workerJoined) == [])
        #expect(script.does(.left(clients: 0, jobs: 0, workers: 2)) == [.dismissWorkers])
        #expect(script.does(.workerJoined) == [.dismissWorkers])
        #expect(script.does(.left(clients: 0, jobs: 0, workers: 0)) == [.exit])
        #expect(script.does(.workerJoined) == [])
    }

    @Test func requestsHaveAllTheirTimeWhereNobodyFollows() {
        var script = Script(in: .finishing)
        script.passes(3_600_000)
        #expect(script.does(.tick) == [])
        #expect(script.state.phase == .finishing && script.state.deadline == nil)
    }

    @Test func clientsThatTakeNothingAreWaitedForUpToTheirTime() {
        var script = Script(in: .delivering)
        script.passes(499)
        #expect(script.does(.tick) == [])
        #expect(script.state.phase == .delivering && script.state.deadline == script.after(1))
        script.passes(1)
        #expect(script.does(.tick) == [])
        #expect(script.state.phase == .storing && script.state.deadline == script.after(1_000))
    }

    @Test func storesAreWaitedForUpToTheirTime() {
        var script = Script(in: .storing)
        script.passes(999)
        #expect(script.does(.tick) == [])
        script.passes(1)
        #expect(script.does(.tick) == [.dismissWorkers])
        #expect(script.state.phase == .dismissing && script.state.deadline == script.after(6_000))
    }

    @Test func workersThatStayAreReportedAfterTheirTime() {
        var script = Script(in: .dismissing)
        script.passes(5_999)
        #expect(script.does(.tick) == [])
        script.passes(1)
        #expect(script.does(.tick) == [.report(.workersLeft), .exit])
    }

    @Test func whoIsReplacedLeavesTheWorkersToTheNextOne() {
        var script = Script()
        #expect(script.does(.replacementRequested) == [.report(.begun), .admitNothing])
        #expect(script.state.deadline == script.after(6_000))
        script.does(.requestsEnded)
        #expect(script.does(.left(clients: 0, jobs: 1, workers: 4)) == [])
        #expect(script.does(.left(clients: 0, jobs: 0, workers: 4)) == [.exit])
    }

    @Test func whoIsReplacedLeavesSlowStoresBehindToo() {
        var script = Script()
        script.does(.stopRequested(isReplaced: true))
        script.does(.requestsEnded)
        script.does(.left(clients: 0, jobs: 1, workers: 4))
        script.passes(1_000)
        #expect(script.does(.tick) == [.exit])
    }

    @Test func whoIsReplacedLeavesSlowRequestsToTheNextOne() {
        var script = Script()
        script.does(.replacementRequested)
        script.passes(5_999)
        #expect(script.does(.tick) == [])
        script.passes(1)
        #expect(script.does(.tick) == [.report(.requestsLeft), .exit])
    }

    @Test(arguments: Script.Begun.allCases)
    func aSecondSignalEndsAtOnceAndOnce(_ phase: Script.Begun) {
        var script = Script(in: phase)
        #expect(script.does(.stopRequested(isReplaced: false)) == [.exit])
        #expect(script.does(.stopRequested(isReplaced: false)) == [])
        #expect(script.does(.requestsEnded) == [])
        #expect(script.does(.left(clients: 0, jobs: 0, workers: 0)) == [])
        script.passes(60_000)
        #expect(script.does(.tick) == [])
    }

    /// A shutdown continues as it started.
    @Test(arguments: Script.Begun.allCases)
    func anOperatorChangesNothingOfAnEndThatHasBegun(_ phase: Script.Begun) {
        var script = Script(in: phase)
        let before = script.state
        #expect(script.does(.replacementRequested) == [])
        #expect(script.state == before)
    }
}

/// A shutdown with a simulated clock.
struct Script {
    /// Phases that wait for something.
    enum Begun: CaseIterable {
        case finishing
        case delivering
        case storing
        case dismissing
    }

    private(set) var state = ShutdownState()
    private var now = Instant(nanoseconds: 1_000_000)

    init() {}

    /// No other coordinator takes over.
    init(in phase: Begun) {
        does(.stopRequested(isReplaced: false))
        if phase == .finishing { return }
        does(.requestsEnded)
        if phase == .delivering { return }
        does(.left(clients: 0, jobs: 1, workers: 4))
        if phase == .storing { return }
        does(.left(clients: 0, jobs: 0, workers: 4))
    }

    @discardableResult
    mutating func does(_ event: ShutdownEvent) -> [ShutdownAction] {
        state.handle(event, at: now)
    }

    mutating func passes(_ milliseconds: Int) { now = after(milliseconds) }

    func after(_ milliseconds: Int) -> Instant { now.adding(milliseconds: milliseconds) }
}

extension ShutdownEvent {
    static func left(clients: Int, jobs: Int, workers: Int) -> ShutdownEvent {
        .counted(ShutdownCensus(clients: clients, jobs: jobs, workers: workers))
    }
}
