import Model
import Testing

@testable import Coordinator

/// Metrics of stages and requests in the status.
@Suite struct MetricsTests {
    private func stage(_ stage: JobStage, _ stack: Stack) -> StatusReport.StageStatus? {
        stack.scheduler.report.stages.first { $0.stage == stage.name }
    }

    @Test func aStageSaysHowLongJobsWaitedAndWorked() throws {
        var stack = Stack()
        let client = stack.connect()
        stack.load(.image(size: nil, .fromLoaderOnly), by: client)
        #expect(stage(.fetch, stack)?.queued == 1)
        stack.pass(milliseconds: 40)
        stack.hire(.download)
        #expect(stage(.fetch, stack)?.running == 1)
        #expect(stage(.fetch, stack)?.queued == 0)
        let held = try #require(stack.held(.fetch).first)
        stack.finish(held, stack.success(held), microseconds: 7_000)
        let fetch = try #require(stage(.fetch, stack))
        #expect(fetch.waits.count == 1 && fetch.waits.sum == 40_000)
        #expect(fetch.works.count == 1 && fetch.works.sum == 7_000)
        #expect(fetch.running == 0)
        #expect(stage(.decode, stack)?.queued == 1)
        #expect(stage(.decode, stack)?.waits.count == 0, "it waits still")
    }

    @Test func whatAWorkerSaysOfItsWorkIsBelievedAsFarAsAJobMayTake() throws {
        var stack = Stack { $0.dispatch.jobMilliseconds.fetch = 9_000 }
        stack.hireAll()
        stack.load(.image(size: nil, .fromLoaderOnly), by: stack.connect())
        let held = try #require(stack.held(.fetch).first)
        stack.finish(held, stack.success(held), microseconds: .max)
        #expect(stage(.fetch, stack)?.works.sum == 9_000_000)
    }

    @Test func transfersAreTimedByPhaseAndCounted() throws {
        var stack = Stack()
        stack.hireAll()
        stack.load(.image(size: nil, .fromLoaderOnly), by: stack.connect())
        let held = try #require(stack.held(.fetch).first)
        guard case .fetched(var body) = stack.success(held) else {
            Issue.record("no body")
            return
        }
        var account = FetchAccount()
        (account.name, account.connect, account.tls, account.firstByte) = (2, 5, 9, 29)
        account.total = 42
        account.bytes = 1_000
        account.httpVersion = "2"
        account.isReused = true
        account.redirects = 3
        account.continuations = 1
        body.account = account
        stack.finish(held, .fetched(body))
        let report = stack.scheduler.report
        #expect(
            report.transfers.map(\.phase) == ["name", "connect", "tls", "firstByte", "total"])
        #expect(report.transfers.map(\.durations.sum) == [2_000, 3_000, 4_000, 20_000, 42_000])
        let counted = stack.counters.transfers
        #expect(counted.versions == ["2": 1] && counted.reused == 1 && counted.bytes == 1_000)
        #expect(counted.redirects == 3 && counted.continuations == 1)
    }

    /// Values reported by a worker are not trusted.
    @Test func figuresOfATransferAreBelievedAsFarAsAJobMayTake() {
        var metrics = DispatchMetrics()
        var counted = SchedulerCounters.Transfers()
        var account = FetchAccount()
        account.connect = .nan
        account.tls = -.infinity
        account.firstByte = .infinity
        account.total = 1e300
        account.bytes = .max
        for number in 0..<1_000 {
            account.httpVersion = "\(number + 4)"
            metrics.transferred(account, atMost: 9_000)
            counted.add(account)
        }
        #expect(counted.versions == ["other": 1_000])
        let times = metrics.transferTimes
        #expect(times[.total]?.count == 1_000)
        #expect(times[.total]?.sum == 9_000_000 * 1_000)
        #expect(times[.tls] == nil && times[.connect] == nil)
    }

    @Test func aConnectionOfBeforeHasNoPhaseButTheAnswer() {
        var account = FetchAccount()
        account.firstByte = 7
        account.total = 8
        #expect(
            TransferPhase.allCases.map { account.milliseconds(of: $0) } == [nil, nil, nil, 7, 8])
    }

    @Test func requestsAreTimedFromAdmissionToReplyButNotHitsOfTheIndex() {
        var stack = Stack()
        stack.hireAll()
        let client = stack.connect()
        let token = stack.load(.image(size: 5), by: client)
        stack.pass(milliseconds: 30)
        stack.finishAll()
        #expect(stack.scheduler.report.requests.count == 1)
        #expect(stack.scheduler.report.requests.sum == 30_000)
        #expect(stack.image(token) != nil)
        stack.publish("http://example.org/b.jpg")
        stack.load(.image("b", size: nil), by: client)
        #expect(stack.counters.memoryHits == 1)
        #expect(stack.scheduler.report.requests.count == 1)
    }

    @Test func whatIsJoinedIsCountedByLevel() {
        var stack = Stack()
        stack.hireAll(credit: 10)
        let client = stack.connect()
        stack.load(.image(size: 5), by: client)
        stack.load(.image(size: 5), by: client)
        stack.load(.image(size: 5).with { $0.output.format = .webp }, by: client)
        stack.load(.image(size: 6), by: client)
        for query in stack.held(.query) { stack.finish(query) }
        let coalesced = stack.counters.coalesced
        #expect(coalesced.lookups == 1, "the same query")
        #expect(coalesced.results == 1, "the same result")
        #expect(coalesced.decodes == 1, "the same pixels")
        #expect(coalesced.sources == 1, "the same bytes")
        #expect(coalesced.requests == 2)
        stack.finishAll()
    }

    @Test func aResultOfACachedOriginalIsATierOfItsOwn() throws {
        var stack = Stack()
        stack.hireAll()
        let client = stack.connect()
        stack.load(.image(size: 5), by: client)
        stack.load(.image(size: 5), by: client)
        stack.run(.query)
        let query = try #require(stack.held(.query).first)
        stack.finish(query, stack.hit(query))
        stack.finishAll()
        #expect(stack.counters.originalHits == 1, "one query")
        #expect(stack.counters.originalUses == 2, "two requests")
        #expect(stack.counters.misses == 0)
    }

    @Test func failuresAreCountedByTheirCode() {
        var stack = Stack()
        stack.hireAll()
        let client = stack.connect()
        let token = stack.load(.image("a", size: nil, .fromLoaderOnly), by: client)
        stack.fail(.fetch, .internalError)
        stack.load(ImageRequest(url: "nonsense"), by: client)
        stack.load(ImageRequest(url: "nonsense too"), by: client)
        let cancelled = stack.load(.image("b"), by: client)
        stack.send(.cancel(client, cancelled))
        #expect(stack.error(token) == .internalError)
        #expect(stack.counters.failures == [.internalError: 1, .invalidURL: 2])
        #expect(stack.counters.failed == 3)
        #expect(stack.counters.cancelled == 1)
    }
}
