import Model
import Testing

@testable import Coordinator

/// Removals from external caches in steps (SEMANTICS §5.26).
@Suite struct RemovalStepTests {
    private var stack: Stack
    private let client: ClientID
    private var worker = WorkerID(0)

    init() {
        (stack, client) = Stack.staffed {
            $0.dispatch.pools = WorkerPools([ExternalCacheTests.pool("team")])
        }
        let external = ExternalCache(pool: "team", timeout: 200)
        stack.send(.caches(CacheLayout([:], external: ["theirs": external])))
        hire()
    }

    private mutating func hire() {
        let pools = stack.scheduler.limits.dispatch.pools
        worker = stack.hire(.cache, credit: 4, pool: ExternalCacheTests.id("team", in: pools))
    }

    private var steps: [Stack.Held] {
        stack.allHeld.filter { stack.workers[$0.worker]?.isExternal == true && !$0.isCancelled }
    }

    private var step: EntryWork? {
        if case .entry(let work)? = steps.first?.job.work { work } else { nil }
    }

    private mutating func remove(tag: String = "red", wantsProgress: Bool = true) {
        stack.questions[7] = client
        var command = CacheCommand(number: 7, action: .removeSelected, key: "")
        (command.selection.tag, command.selection.cache) = (tag, "theirs")
        command.wantsProgress = wantsProgress
        stack.send(.cache(client, command))
    }

    private mutating func finish(next: UInt64, removed: UInt64, total: UInt64 = 0) {
        guard let held = steps.first else {
            Issue.record("no step is in flight")
            return
        }
        var page = EntryPage(next: next, disk: EntryCount(entries: removed, bytes: 10 * removed))
        (page.examined, page.total) = (100, total)
        stack.finish(held, .entries(page))
    }

    private var failure: ImageError? {
        if case .failure(let error)? = stack.answers[7] { error } else { nil }
    }

    @Test mutating func itGoesOnUntilItIsDone() {
        remove()
        #expect(step?.inSteps == true && step?.after == 0)
        finish(next: 5, removed: 30, total: 270)
        #expect(step?.after == 5 && stack.answers[7] == nil)
        #expect(stack.removals[7]?.last?.disk.entries == 30)
        #expect(stack.removals[7]?.last?.examined == 100 && stack.removals[7]?.last?.total == 300)
        finish(next: 9, removed: 50, total: 220)
        finish(next: 0, removed: 10, total: 210)
        guard case .page(let page)? = stack.answers[7] else {
            Issue.record("\(stack.answers)")
            return
        }
        #expect(page.disk == EntryCount(entries: 90, bytes: 900) && page.next == 0)
        #expect(page.examined == 300 && stack.removals[7]?.count == 2 && stack.isAtRest)
    }

    @Test mutating func whoDoesNotWantProgressIsToldTheEnd() {
        remove(wantsProgress: false)
        finish(next: 5, removed: 30)
        finish(next: 0, removed: 1)
        #expect(stack.removals[7] == nil && stack.answers[7] != nil && stack.isAtRest)
    }

    /// Each step has the timeout of a removal: ten times the query timeout.
    @Test mutating func timeCountsByStep() {
        remove()
        for next in 1...5 {
            stack.pass(milliseconds: 1_900)
            finish(next: UInt64(next), removed: 1, total: 400)
        }
        #expect(failure == nil)
        stack.pass(milliseconds: 2_000)
        #expect(failure?.code == .deadlineExceeded)
        #expect(failure?.details["removed"] == "5", "\(String(describing: failure))")
        #expect(failure?.message.contains("'theirs'") == true)
        stack.finishAll()
        #expect(stack.isAtRest)
    }

    @Test mutating func aWorkerThatStopsLeavesARest() {
        remove()
        finish(next: 1, removed: 40, total: 860)
        finish(next: 2, removed: 60, total: 800)
        stack.kill(worker)
        #expect(failure?.details["removed"] == "100" && failure?.details["left"] == "700")
        #expect(failure?.message.contains("about 700 entries") == true)
        #expect(stack.isAtRest)
        hire()
        remove()
        finish(next: 0, removed: 1)
        guard case .page? = stack.answers[7] else {
            Issue.record("\(stack.answers)")
            return
        }
    }

    @Test mutating func aFailureInTheFirstStepSaysNoMore() {
        remove()
        stack.finish(steps[0], .failed(ImageError(.internalError, "no")))
        #expect(failure?.details["removed"] == nil && stack.isAtRest)
    }

    /// What an external cache reports, and what the operator gets.
    @Test(arguments: [
        (ErrorCode.connectionFailed, ErrorCode.busy), (.timedOut, .busy), (.arenaFull, .busy),
        (.busy, .busy), (.deadlineExceeded, .deadlineExceeded), (.workerLost, .workerLost),
        (.notSupported, .notSupported), (.badImageData, .internalError),
        (.internalError, .internalError),
    ])
    mutating func aFailureThatMayPassIsBusy(told: ErrorCode, expected: ErrorCode) {
        remove()
        stack.finish(steps[0], .failed(ImageError(told, "no server")))
        #expect(failure?.code == expected && stack.isAtRest)
        #expect(failure?.message == "the cache 'theirs' failed: no server")
    }

    @Test mutating func whoTurnsInCirclesIsStopped() {
        remove()
        finish(next: 3, removed: 1)
        finish(next: 3, removed: 0)
        #expect(failure?.message.contains("does not terminate") == true && stack.isAtRest)
    }

    @Test mutating func whenItsOperatorLeavesItEnds() {
        remove()
        finish(next: 3, removed: 1)
        stack.disconnect(client)
        #expect(steps.isEmpty)
        stack.finishAll()
        #expect(stack.isAtRest)
    }

    @Test mutating func othersAreServedInBetween() {
        var terms = LoadTerms()
        terms.cache = "theirs"
        remove()
        finish(next: 3, removed: 1)
        let token = stack.load(.image(), by: client, terms: terms)
        let queries = steps.filter { if case .query = $0.job.work { true } else { false } }
        #expect(queries.count == 1)
        stack.finishAll()
        #expect(stack.image(token) != nil && stack.answers[7] != nil && stack.isAtRest)
    }

    /// Only a cache that was asked for steps may answer with one.
    @Test mutating func ourOwnCacheRemovesAtOnce() {
        stack.questions[7] = client
        var command = CacheCommand(number: 7, action: .removeSelected, key: "")
        command.selection = EntrySelection(cache: "", tag: "red")
        stack.send(.cache(client, command))
        let own = stack.worker(.cache)
        guard let held = stack.allHeld.first(where: { $0.worker == own }) else {
            Issue.record("it is asked")
            return
        }
        stack.finish(held, .entries(EntryPage(next: 5)))
        #expect(stack.workers[own] == nil, "its session ended")
    }
}
