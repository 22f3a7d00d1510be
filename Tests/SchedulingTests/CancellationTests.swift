import Model
import Testing

@testable import Coordinator

struct CancellationTests {
    private let loader = ImageRequest.image("a", size: 5, .fromLoaderOnly)

    @Test func cancelEndsARequestAtOnceAndTellsTheWorker() {
        var stack = Stack()
        stack.hireAll()
        let client = stack.connect()
        let token = stack.load(loader, by: client)
        stack.send(.cancel(client, token))
        #expect(stack.error(token) == .cancelled)
        #expect(stack.allHeld.map(\.isCancelled) == [true])
        #expect(stack.counters.cancelled == 1)
        stack.send(.cancel(client, token))
        #expect(stack.actions == [], "after the terminal reply it does nothing")
        stack.finishAll()
        #expect(stack.isAtRest)
    }

    @Test func aJobThatNobodyHoldsIsSimplyForgotten() {
        var stack = Stack()
        let client = stack.connect()
        let token = stack.load(loader, by: client)
        stack.send(.cancel(client, token))
        #expect(stack.isAtRest)
        stack.hireAll()
        #expect(stack.allHeld.isEmpty)
    }

    @Test func theFirstOfTwoIsCancelledAndTheSecondGetsItsImage() {
        var stack = Stack()
        stack.hireAll()
        let client = stack.connect()
        let first = stack.load(loader, by: client)
        let second = stack.load(loader, by: client)
        stack.send(.cancel(client, first))
        #expect(stack.error(first) == .cancelled)
        #expect(stack.allHeld.map(\.isCancelled) == [false])
        stack.finishAll()
        #expect(stack.image(second) != nil)
        #expect(stack.isAtRest)
    }

    @Test func aNewcomerGetsANewJobWhileTheDyingOneKeepsItsPlace() {
        var stack = Stack()
        stack.hireAll(credit: 1)
        let client = stack.connect()
        let first = stack.load(loader, by: client)
        stack.send(.cancel(client, first))
        let second = stack.load(loader, by: client)
        #expect(stack.held(.fetch).isEmpty, "the credit is taken until the outcome")
        let dying = stack.allHeld[0]
        stack.finish(dying, stack.success(dying))
        #expect(stack.workers[dying.worker]?.live.isEmpty == true, "its block is free at once")
        #expect(stack.held(.fetch).map(\.job.id) != [dying.job.id])
        stack.finishAll()
        #expect(stack.image(second) != nil)
        #expect(stack.counters.fetches == 2)
        #expect(stack.isAtRest)
    }

    @Test(arguments: [JobStage.decode, .transform])
    func aDyingJobKeepsWhatItReads(stage: JobStage) {
        var stack = Stack()
        stack.hireAll()
        let client = stack.connect()
        let token = stack.load(
            loader.with { $0.originalStoreCacheTypes = .none }, by: client)
        stack.finish(.fetch)
        if stage == .transform { stack.finish(.decode) }
        let dying = stack.held(stage)[0]
        stack.send(.cancel(client, token))
        #expect(stack.scheduler.report["liveBlocks"] == 1)
        stack.finish(dying, .failed(ImageError(.cancelled, "stopped")))
        #expect(stack.isAtRest)
    }

    @Test func onceTheResultExistsOnlyTheReplyChanges() {
        var stack = Stack()
        stack.hireAll()
        let client = stack.connect()
        let token = stack.load(loader, by: client)
        stack.run(.fetch, .decode, .transform)
        stack.send(.cancel(client, token))
        #expect(stack.error(token) == .cancelled)
        #expect(stack.held(.store).count == 2, "both stores go on")
        let newcomer = stack.load(loader, by: client)
        stack.finishAll()
        #expect(stack.image(newcomer) != nil, "a later load gets the delivery")
        #expect(stack.counters.fetches == 1)
        #expect(stack.isAtRest)
    }

    @Test func aGroupIsCancelledAsFarAsItWasAdmitted() {
        var stack = Stack()
        stack.hireAll()
        let (client, other) = (stack.connect(), stack.connect())
        let group = GroupID(Identifier128(high: 5, low: 5))
        let members = ["a", "b"].map { stack.load(.image($0), by: client, group: group) }
        let alone = stack.load(.image("c"), by: client)
        let external = stack.load(.image("d"), by: other, group: group)
        stack.send(.cancelGroup(client, group))
        #expect(members.allSatisfy { stack.error($0) == .cancelled })
        let later = stack.load(.image("e"), by: client, group: group)
        stack.finishAll()
        #expect([alone, external, later].allSatisfy { stack.image($0) != nil })
        #expect(stack.isAtRest)
    }

    @Test func aClientThatLeavesTakesItsInterestWithItWithoutReplies() {
        var stack = Stack()
        stack.hireAll()
        let (client, other) = (stack.connect(), stack.connect())
        stack.load(.image("a"), by: client)
        stack.load(.image("b"), by: client)
        let shared = stack.load(.image("b"), by: other)
        stack.disconnect(client)
        #expect(stack.allHeld.map(\.isCancelled) == [true, false])
        stack.finishAll()
        #expect(stack.image(shared) != nil)
        #expect(stack.counters.cancelled == 2)
        #expect(stack.isAtRest)
    }

    @Test func anotherClientsTokenIsNotCancelled() {
        var stack = Stack()
        stack.hireAll()
        let (client, other) = (stack.connect(), stack.connect())
        let token = stack.load(.image(), by: client)
        stack.send(.cancel(other, token))
        #expect(stack.reply(token) == nil)
        stack.finishAll()
        #expect(stack.isAtRest)
    }

    @Test func theDeadlineOfOneWaiterIsACancelWithACodeOfItsOwn() {
        var stack = Stack()
        stack.hireAll()
        let client = stack.connect()
        let hasty = stack.load(loader.with { $0.timeoutMilliseconds = 50 }, by: client)
        let patient = stack.load(loader, by: client)
        stack.pass(milliseconds: 49)
        #expect(stack.reply(hasty) == nil)
        stack.pass(milliseconds: 1)
        #expect(stack.error(hasty) == .deadlineExceeded)
        #expect(stack.allHeld.map(\.isCancelled) == [false])
        stack.finishAll()
        #expect(stack.image(patient) != nil)
        #expect(stack.isAtRest)
    }

    @Test func whatHappenedCountsBeforeADeadlineThatNobodyHadNoticed() {
        var stack = Stack()
        stack.hireAll()
        let client = stack.connect()
        let token = stack.load(
            ImageRequest.image().with { $0.timeoutMilliseconds = 50 }, by: client)
        let query = stack.held(.query)[0]
        stack.now = stack.now.adding(milliseconds: 60)
        stack.finish(query, stack.hit(query))
        #expect(stack.image(token) != nil)
        #expect(stack.isAtRest)
    }

    @Test(arguments: [(JobStage.fetch, 10_000), (.decode, 1_500), (.transform, 1_500)])
    func aWorkerThatDoesNotAnswerACancelLosesItsSession(stage: JobStage, milliseconds: Int) {
        var stack = Stack()
        stack.hireAll()
        let client = stack.connect()
        let token = stack.load(
            loader.with { $0.originalStoreCacheTypes = .none }, by: client)
        while let next = stack.allHeld.first, next.job.work.stage != stage { stack.finish(next) }
        stack.send(.cancel(client, token))
        let silent = stack.allHeld[0].worker
        stack.pass(milliseconds: milliseconds - 1)
        #expect(stack.expelled.isEmpty)
        stack.pass(milliseconds: 1)
        #expect(stack.expelled.map(\.0) == [silent])
        #expect(stack.isAtRest)
    }

    @Test func aWorkerThatGivesUpUnaskedIsReplacedByAnotherAttempt() {
        var stack = Stack()
        stack.hireAll()
        let client = stack.connect()
        let token = stack.load(loader, by: client)
        stack.fail(.fetch, .cancelled)
        #expect(stack.held(.fetch).map(\.job.attempt) == [2])
        stack.finishAll()
        #expect(stack.image(token) != nil, "no load fails by another's cancel")
        #expect(stack.isAtRest)
    }

    @Test func tenThousandWaitersLeaveOneAfterAnother() {
        var stack = Stack { $0.requestsPerClientMax = 10_000 }
        stack.hireAll()
        let client = stack.connect()
        let tokens = (0..<10_000).map { _ in stack.load(loader, by: client) }
        for token in tokens.reversed() { stack.send(.cancel(client, token)) }
        #expect(tokens.allSatisfy { stack.error($0) == .cancelled })
        stack.finishAll()
        #expect(stack.isAtRest)
    }

    // MARK: - Published results

    private func durations(_ stack: Stack, _ stage: String) -> StatusReport.Cancellations? {
        stack.scheduler.report.cancellations.first { $0.stage == stage }
    }

    @Test func theTimeFromCancelToAFreeWorkerIsCounted() {
        var stack = Stack()
        stack.hireAll()
        let client = stack.connect()
        let token = stack.load(.image("a", size: 5, .fromLoaderOnly), by: client)
        stack.finish(.fetch)
        stack.send(.cancel(client, token))
        stack.now = stack.now.adding(milliseconds: 8)
        stack.finishAll()
        let decode = durations(stack, "decode")
        #expect(decode?.durations.count == 1 && decode?.hard == 0)
        #expect((8_000...8_500).contains(decode?.durations.microseconds(at: 0.5) ?? 0))
        #expect(durations(stack, "fetch") == nil)
    }

    @Test func aHardCancelLastsUntilTheNextProcessIsThere() {
        var stack = Stack()
        stack.hireAll()
        let client = stack.connect()
        let token = stack.load(.image("a", size: 5, .fromLoaderOnly), by: client)
        stack.finish(.fetch)
        let worker = stack.worker(.decode)
        stack.send(.cancel(client, token))
        stack.now = stack.now.adding(milliseconds: 500)
        stack.kill(worker)
        #expect(durations(stack, "decode") == nil)
        stack.now = stack.now.adding(milliseconds: 60)
        stack.hire(.decode)
        #expect(durations(stack, "decode")?.hard == 1)
        #expect(
            (560_000...594_000).contains(
                durations(stack, "decode")?.durations.microseconds(at: 0.99) ?? 0))
    }

    @Test func aHistogramSaysWhatAShareTookAtMost() {
        var histogram = LatencyHistogram()
        #expect(histogram.microseconds(at: 0.5) == nil)
        for value in 1...100 { histogram.record(microseconds: UInt64(value * 1_000)) }
        let before = histogram
        #expect((50_000...53_000).contains(histogram.microseconds(at: 0.5) ?? 0))
        #expect((99_000...105_000).contains(histogram.microseconds(at: 0.99) ?? 0))
        histogram.record(microseconds: .max)
        histogram.record(microseconds: 0)
        #expect(histogram.since(before).count == 2)
        #expect(histogram.microseconds(at: 0) == 1)
        #expect(LatencyHistogram.upperEnd(of: 12).rounded() == 2)
        #expect(LatencyHistogram.upperEnd(of: 120).rounded() == 1_024)
    }
}
