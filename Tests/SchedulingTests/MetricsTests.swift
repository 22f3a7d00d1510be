import Model
import Testing

@testable import Coordinator

/// Metrics of stages and requests in the status.
@Suite struct MetricsTests {
    private var stack = Stack.staffed()

    private func stage(_ stage: JobStage) -> StatusReport.StageStatus? {
        stack.scheduler.report.stages.first { $0.stage == stage.name }
    }

    @Test mutating func aStageSaysHowLongJobsWaitedAndWorked() throws {
        stack = Stack()
        stack.load(.loader())
        #expect(stage(.fetch)?.queued == 1)
        stack.pass(milliseconds: 40)
        stack.hire(.download)
        #expect(stage(.fetch)?.running == 1)
        #expect(stage(.fetch)?.queued == 0)
        let held = try #require(stack.held(.fetch).first)
        stack.finish(held, stack.success(held), microseconds: 7_000)
        let fetch = try #require(stage(.fetch))
        #expect(fetch.waits.count == 1 && fetch.waits.sum == 40_000)
        #expect(fetch.works.count == 1 && fetch.works.sum == 7_000)
        #expect(fetch.running == 0)
        #expect(stage(.decode)?.queued == 1)
        #expect(stage(.decode)?.waits.count == 0, "it waits still")
    }

    @Test mutating func whatAWorkerSaysOfItsWorkIsBelievedAsFarAsAJobMayTake() throws {
        stack = Stack.staffed { $0.dispatch.jobMilliseconds.fetch = 9_000 }
        stack.load(.loader())
        let held = try #require(stack.held(.fetch).first)
        stack.finish(held, stack.success(held), microseconds: .max)
        #expect(stage(.fetch)?.works.sum == 9_000_000)
    }

    @Test mutating func transfersAreTimedByPhaseAndCounted() {
        stack.load(.loader())
        var account = FetchAccount()
        (account.name, account.connect, account.tls, account.firstByte) = (2, 5, 9, 29)
        account.total = 42
        account.bytes = 1_000
        account.httpVersion = "2"
        account.isReused = true
        account.redirects = 3
        account.continuations = 1
        stack.fetch { $0.account = account }
        let report = stack.scheduler.report
        #expect(report.transfers.map(\.phase) == ["name", "connect", "tls", "firstByte", "total"])
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

    @Test mutating func requestsAreTimedFromAdmissionToReplyButNotHitsOfTheIndex() {
        let token = stack.load(.image(size: 5))
        stack.pass(milliseconds: 30)
        stack.finishAll()
        #expect(stack.scheduler.report.requests.count == 1)
        #expect(stack.scheduler.report.requests.sum == 30_000)
        #expect(stack.image(token) != nil)
        stack.publish("http://example.org/b.jpg")
        stack.load(.image("b"))
        #expect(stack.counters.memoryHits == 1)
        #expect(stack.scheduler.report.requests.count == 1)
    }

    @Test mutating func whatIsJoinedIsCountedByLevel() {
        stack = Stack.staffed(credit: 10)
        stack.load(.image(size: 5))
        stack.load(.image(size: 5))
        stack.load(.image(size: 5).with { $0.output.format = .webp })
        stack.load(.image(size: 6))
        stack.finishEach(.query)
        let coalesced = stack.counters.coalesced
        #expect(coalesced.lookups == 1, "the same query")
        #expect(coalesced.results == 1, "the same result")
        #expect(coalesced.decodes == 1, "the same pixels")
        #expect(coalesced.sources == 1, "the same bytes")
        #expect(coalesced.requests == 2)
        stack.finishAll()
    }

    @Test mutating func aResultOfACachedOriginalIsATierOfItsOwn() throws {
        stack.load(.image(size: 5))
        stack.load(.image(size: 5))
        stack.run(.query)
        let query = try #require(stack.held(.query).first)
        stack.finish(query, stack.hit(query))
        stack.finishAll()
        #expect(stack.counters.originalHits == 1, "one query")
        #expect(stack.counters.originalUses == 2, "two requests")
        #expect(stack.counters.misses == 0)
    }

    @Test mutating func failuresAreCountedByTheirCode() {
        let token = stack.load(.loader())
        stack.fail(.fetch, .internalError)
        stack.load(ImageRequest(url: "nonsense"))
        stack.load(ImageRequest(url: "nonsense too"))
        let cancelled = stack.load(.image("b"))
        stack.cancel(cancelled)
        #expect(stack.error(token) == .internalError)
        #expect(stack.counters.failures == [.internalError: 1, .invalidURL: 2])
        #expect(stack.counters.failed == 3)
        #expect(stack.counters.cancelled == 1)
    }
}

@Suite struct HistogramTests {
    private func histogram(_ microseconds: UInt64...) -> LatencyHistogram {
        var histogram = LatencyHistogram()
        for value in microseconds { histogram.record(microseconds: value) }
        return histogram
    }

    @Test func theSumIsExactAndDoesNotOverflow() {
        #expect(histogram(1, 20, 300).sum == 321)
        var full = histogram(.max, 1)
        #expect(full.sum == .max)
        full.add(histogram(5))
        #expect(full.sum == .max)
        #expect(full.count == 3)
    }

    @Test func countsAreCumulativeUpToTheEndOfABucket() {
        let some = histogram(128, 129, 256, 4_000)
        let octave = LatencyHistogram.bucketsPerOctave
        #expect(LatencyHistogram.upperEnd(of: 7 * octave) == 128)
        #expect(some.count(upTo: 7 * octave) == 1)
        #expect(some.count(upTo: 8 * octave) == 3)
        #expect(some.count(upTo: 12 * octave) == 4)
        #expect(some.count(upTo: 0) == 0)
    }

    @Test func whatHappenedBetweenTwoLooksIsTheirDifference() {
        let before = histogram(10, 20)
        var after = before
        after.record(microseconds: 500)
        #expect(after.since(before) == histogram(500))
        var both = before
        both.add(histogram(500))
        #expect(both == after)
    }

    @Test func momentsThatRunBackwardsAreNoTime() {
        var histogram = LatencyHistogram()
        histogram.record(from: Instant(nanoseconds: 9_000), to: Instant(nanoseconds: 4_000))
        histogram.record(from: Instant(nanoseconds: 4_000), to: Instant(nanoseconds: 9_000))
        #expect(histogram.count == 2 && histogram.sum == 5)
    }
}

/// One trace through all stages, and into the log.
@Suite struct TraceTests {
    private var stack = Stack.staffed()
    private let first = TraceContext(trace: Identifier128(high: 1, low: 2), parent: 3, flags: 1)
    private let second = TraceContext(trace: Identifier128(high: 4, low: 5), parent: 6, flags: 0)

    @Test mutating func everyJobHasTheTraceOfTheRequestThatBeganIt() throws {
        stack.load(.image(size: 5), trace: first)
        stack.load(.image(size: 5), trace: second)
        stack.load(.image(size: 6), trace: second)
        var seen: [JobStage: Set<TraceContext?>] = [:]
        while let held = stack.allHeld.first {
            seen[held.job.work.stage, default: []].insert(held.job.logContext.trace)
            stack.finish(held)
        }
        #expect(seen[.fetch] == [first])
        #expect(seen[.query] == [first, second], "the other size is queried for the second")
        #expect(seen[.decode] == [first, second])
        #expect(seen[.transform] == [first, second])
        #expect(seen[.store] == [first, second])
        #expect(stack.isAtRest)
    }

    @Test mutating func everyJobAndTheRecordHaveTheRequestIDOfTheFirst() throws {
        let (first, second) = (RequestID(text: "first"), RequestID(text: "second"))
        let one = stack.load(.image(size: 5), requestID: first)
        let other = stack.load(.image(size: 5), requestID: second)
        var seen: Set<RequestID?> = []
        while let held = stack.allHeld.first {
            seen.insert(held.job.logContext.requestID)
            stack.finish(held)
        }
        #expect(seen == [first])
        #expect(stack.records[one]?.logContext.requestID == first)
        #expect(stack.records[other]?.logContext.requestID == second)
    }

    @Test mutating func aNewAttemptKeepsItsTrace() throws {
        stack.load(.loader(), trace: first)
        stack.kill(try #require(stack.held(.fetch).first).worker)
        stack.hire(.download)
        let again = try #require(stack.held(.fetch).first).job
        #expect(again.attempt == 2)
        #expect(again.logContext.trace == first)
    }

    @Test mutating func everyReplyIsRecordedWithURLTraceAndAttempts() throws {
        let token = stack.load(.image(size: 5), trace: first)
        stack.run(.query, .query, .fetch, .decode)
        stack.replace(.decode)
        stack.finishAll()
        let record = try #require(stack.records[token])
        #expect(record.url == "http://example.org/a.jpg")
        #expect(record.logContext.trace == first)
        #expect(record.attempts == 2, "its pixels were lost")
        #expect(record.reply == stack.reply(token))

        let refused = stack.load(ImageRequest(url: "nonsense"), trace: second)
        #expect(stack.records[refused]?.logContext.trace == second)
        let cancelled = stack.load(.image("b"))
        stack.cancel(cancelled)
        #expect(stack.records[cancelled]?.reply == stack.reply(cancelled))
        stack.publish("http://example.org/c.jpg")
        let hit = stack.load(.image("c"), trace: second)
        #expect(stack.records[hit]?.logContext.trace == second)
        #expect(stack.faults == [])
    }
}
