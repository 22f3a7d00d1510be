import Testing

@testable import Coordinator
@testable import Model

struct RetryTests {
    private var stack = Stack.staffed()
    private let image = ImageRequest.loader()
    private let url = "http://example.org/a.jpg"

    private static func status(_ status: Int, retryAfter: String? = nil) -> JobResult {
        var details = ["httpStatus": "\(status)"]
        details["retryAfter"] = retryAfter
        return .failed(ImageError(.invalidDownloadStatusCode, "as told", details: details))
    }

    /// Milliseconds until the scheduler's next deadline.
    private func pause() -> Int {
        stack.scheduler.nextDeadline?.milliseconds(since: stack.now) ?? 0
    }

    @Test(
        arguments: [
            .connectionFailed, .nameNotResolved, .timedOut, .shortBody, .connectionBroken,
        ] as [ErrorCode])
    mutating func whatFailedInPassingIsTriedAgainAfterAWhile(code: ErrorCode) {
        let token = stack.load(image)
        stack.fail(.fetch, code)
        #expect(stack.allHeld.isEmpty, "no worker holds it")
        #expect(stack.faults.isEmpty && stack.scheduler.audit().isEmpty)
        #expect((150...250).contains(pause()))
        stack.pass(milliseconds: pause() - 1)
        #expect(stack.held(.fetch).isEmpty)
        stack.pass(milliseconds: 1)
        #expect(stack.held(.fetch).map(\.job.attempt) == [2])
        stack.fail(.fetch, code)
        #expect((300...500).contains(pause()), "twice as long")
        stack.pass(milliseconds: pause())
        stack.end(token)
        #expect(stack.counters.retries == 2 && stack.gets == [url: 3])
    }

    @Test mutating func afterTheLastAttemptTheErrorIsTold() throws {
        let token = stack.load(image)
        for _ in 0..<2 {
            stack.finish(.fetch, Self.status(500))
            stack.pass(milliseconds: 500)
        }
        stack.finish(.fetch, Self.status(502))
        let error = try #require(stack.failure(token))
        #expect(error.details == ["httpStatus": "502", "attempt": "3"])
        #expect(stack.isAtRest)
    }

    @Test(arguments: [400, 404, 410]) mutating func aNoIsANo(status: Int) {
        let token = stack.load(image)
        stack.finish(.fetch, Self.status(status))
        #expect(stack.error(token) == .invalidDownloadStatusCode)
        #expect(stack.isAtRest)
    }

    @Test(arguments: [.tlsFailed, .badImageData, .busy, .protocolBroken] as [ErrorCode])
    mutating func otherFailuresAreToldAtOnce(code: ErrorCode) {
        let token = stack.load(image)
        stack.fail(.fetch, code)
        #expect(stack.error(token) == code)
    }

    @Test mutating func theOriginSaysHowLong() {
        let token = stack.load(image)
        stack.finish(.fetch, Self.status(503, retryAfter: "2"))
        stack.pass(milliseconds: 1_999)
        #expect(stack.held(.fetch).isEmpty)
        stack.pass(milliseconds: 1)
        stack.finishAll()
        #expect(stack.image(token) != nil)
    }

    @Test(arguments: ["3", "30", "4294967295"])
    mutating func longerThanAnyoneWaitsIsToldAtOnce(seconds: String) throws {
        let token = stack.load(image.within(milliseconds: 30_000))
        stack.finish(.fetch, Self.status(429, retryAfter: seconds))
        let error = try #require(stack.failure(token))
        #expect(error.details == ["httpStatus": "429", "retryAfter": seconds])
        #expect(stack.isAtRest)
    }

    @Test(arguments: ["", "-1", "soon", "4294967296"])
    mutating func whatIsNoNumberOfSecondsDoesNotCount(text: String) {
        stack.load(image)
        stack.finish(.fetch, Self.status(503, retryAfter: text))
        #expect((150...250).contains(pause()))
    }

    @Test mutating func whoComesMeanwhileShares() {
        let first = stack.load(image)
        stack.fail(.fetch, .connectionBroken)
        let same = stack.load(image)
        let other = stack.load(.loader(size: 4))
        #expect(stack.held(.fetch).isEmpty)
        stack.pass(milliseconds: 250)
        stack.end(first, same, other)
        #expect(stack.gets == [url: 2])
    }

    @Test mutating func aDelayedTransferThatNobodyWantsIsForgotten() {
        let token = stack.load(image)
        stack.fail(.fetch, .timedOut)
        stack.cancel(token)
        #expect(stack.error(token) == .cancelled)
        #expect(stack.isAtRest)
        stack.pass(milliseconds: 1_000)
        #expect(stack.gets == [url: 1])
    }

    @Test mutating func aDeadlineDuringTheDelayEndsIt() {
        let short = stack.load(image.within(milliseconds: 1_000))
        let long = stack.load(image.within(milliseconds: 9_000))
        stack.finish(.fetch, Self.status(503, retryAfter: "2"))
        stack.pass(milliseconds: 1_000)
        #expect(stack.error(short) == .deadlineExceeded)
        #expect(stack.reply(long) == nil)
        stack.pass(milliseconds: 1_000)
        stack.finishAll()
        #expect(stack.image(long) != nil)
    }

    /// The only subscriber with enough time has left: the others need not wait until their
    /// deadline.
    @Test mutating func whoIsLeftAndCannotWaitIsToldAtOnce() {
        let short = stack.load(image.within(milliseconds: 1_000))
        let long = stack.load(image.within(milliseconds: 9_000))
        stack.finish(.fetch, Self.status(503, retryAfter: "2"))
        stack.cancel(long)
        #expect(stack.error(short) == .invalidDownloadStatusCode)
        #expect(stack.isAtRest)
    }

    @Test mutating func priorityAndDeadlineOfWhoJoinsCount() {
        stack.load(image.within(milliseconds: 1_000))
        stack.fail(.fetch, .timedOut)
        stack.load(
            image.with {
                $0.timeoutMilliseconds = 20_000
                $0.options.insert(.highPriority)
            })
        stack.pass(milliseconds: 250)
        #expect(stack.held(.fetch).map(\.priority) == [.high])
        #expect(stack.held(.fetch).allSatisfy { $0.left > 19_000 })
    }

    @Test mutating func theDelayCountsAsWaiting() {
        let token = stack.load(image)
        stack.finish(.fetch, Self.status(503, retryAfter: "2"))
        stack.pass(milliseconds: 2_000)
        stack.finishAll()
        #expect(stack.reply(token)?.timings.queue == 2_000)
    }

    @Test mutating func progressDoesNotGoBackForWhoHasSeenIt() {
        func report(_ received: UInt64) {
            for held in stack.held(.fetch) {
                let progress = JobProgress(
                    id: held.job.id, attempt: held.job.attempt, received: received, expected: 90)
                stack.send(.progress(held.worker, progress))
            }
        }
        let first = stack.load(image, wantsProgress: true)
        report(0)
        report(50)
        stack.fail(.fetch, .shortBody)
        let second = stack.load(image, wantsProgress: true)
        stack.pass(milliseconds: 250)
        for received in [0, 20, 60, 90] as [UInt64] { report(received) }
        #expect(stack.progress[first]?.map(\.received) == [0, 50, 60, 90])
        #expect(stack.progress[second]?.map(\.received) == [0, 20, 60, 90])
    }

    @Test mutating func aLostWorkerIsAnotherMatter() {
        let token = stack.load(image)
        for _ in 0..<2 {
            stack.fail(.fetch, .timedOut)
            stack.pass(milliseconds: 500)
            stack.replace(.download)
        }
        #expect(stack.held(.fetch).map(\.job.attempt) == [5])
        stack.finishAll()
        #expect(stack.image(token) != nil)
    }

    @Test func whatFailsTogetherDoesNotComeBackTogether() {
        let pauses = Set((1...50).map { Jitter.spread(200, part: 4, seed: $0) })
        #expect(pauses.count > 30 && pauses.allSatisfy { (150...250).contains($0) })
        #expect(Jitter.spread(200, part: 4, seed: 7) == Jitter.spread(200, part: 4, seed: 7))
    }
}
