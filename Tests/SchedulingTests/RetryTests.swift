import Testing

@testable import Coordinator
@testable import Model

struct RetryTests {
    private let image = ImageRequest.image("a", .fromLoaderOnly)
    private let url = "http://example.org/a.jpg"

    private static func status(_ status: Int, retryAfter: String? = nil) -> JobResult {
        var details = ["httpStatus": "\(status)"]
        details["retryAfter"] = retryAfter
        return .failed(ImageError(.invalidDownloadStatusCode, "as told", details: details))
    }

    /// Milliseconds until the scheduler's next deadline.
    private func pause(_ stack: Stack) -> Int {
        stack.scheduler.nextDeadline?.milliseconds(since: stack.now) ?? 0
    }

    @Test(
        arguments: [
            .connectionFailed, .nameNotResolved, .timedOut, .shortBody, .connectionBroken,
        ] as [ErrorCode])
    func whatFailedInPassingIsTriedAgainAfterAWhile(code: ErrorCode) {
        var (stack, client) = Stack.staffed()
        let token = stack.load(image, by: client)
        stack.fail(.fetch, code)
        #expect(stack.allHeld.isEmpty, "no worker holds it")
        #expect(stack.faults.isEmpty && stack.scheduler.audit().isEmpty)
        #expect((150...250).contains(pause(stack)))
        stack.pass(milliseconds: pause(stack) - 1)
        #expect(stack.held(.fetch).isEmpty)
        stack.pass(milliseconds: 1)
        #expect(stack.held(.fetch).map(\.job.attempt) == [2])
        stack.fail(.fetch, code)
        #expect((300...500).contains(pause(stack)), "twice as long")
        stack.pass(milliseconds: pause(stack))
        stack.finishAll()
        #expect(stack.image(token) != nil)
        #expect(stack.counters.retries == 2 && stack.gets == [url: 3])
        #expect(stack.isAtRest)
    }

    @Test func afterTheLastAttemptTheErrorIsTold() {
        var (stack, client) = Stack.staffed()
        let token = stack.load(image, by: client)
        for _ in 0..<2 {
            stack.finish(.fetch, Self.status(500))
            stack.pass(milliseconds: 500)
        }
        stack.finish(.fetch, Self.status(502))
        guard case .failure(let error) = stack.reply(token)?.outcome else {
            Issue.record("no error")
            return
        }
        #expect(error.details == ["httpStatus": "502", "attempt": "3"])
        #expect(stack.isAtRest)
    }

    @Test(arguments: [400, 404, 410]) func aNoIsANo(status: Int) {
        var (stack, client) = Stack.staffed()
        let token = stack.load(image, by: client)
        stack.finish(.fetch, Self.status(status))
        #expect(stack.error(token) == .invalidDownloadStatusCode)
        #expect(stack.isAtRest)
    }

    @Test(arguments: [.tlsFailed, .badImageData, .busy, .protocolBroken] as [ErrorCode])
    func otherFailuresAreToldAtOnce(code: ErrorCode) {
        var (stack, client) = Stack.staffed()
        let token = stack.load(image, by: client)
        stack.fail(.fetch, code)
        #expect(stack.error(token) == code)
    }

    @Test func withoutRetriesItIsToldAtOnce() {
        var (stack, client) = Stack.staffed { $0.dispatch.fetchRetriesMax = 0 }
        let token = stack.load(image, by: client)
        stack.fail(.fetch, .connectionFailed)
        #expect(stack.error(token) == .connectionFailed)
    }

    @Test func theOriginSaysHowLong() {
        var (stack, client) = Stack.staffed()
        let token = stack.load(image, by: client)
        stack.finish(.fetch, Self.status(503, retryAfter: "2"))
        stack.pass(milliseconds: 1_999)
        #expect(stack.held(.fetch).isEmpty)
        stack.pass(milliseconds: 1)
        stack.finishAll()
        #expect(stack.image(token) != nil)
    }

    @Test(arguments: ["3", "30", "4294967295"])
    func longerThanAnyoneWaitsIsToldAtOnce(seconds: String) {
        var (stack, client) = Stack.staffed()
        let token = stack.load(image.with { $0.timeoutMilliseconds = 30_000 }, by: client)
        stack.finish(.fetch, Self.status(429, retryAfter: seconds))
        guard case .failure(let error) = stack.reply(token)?.outcome else {
            Issue.record("it waits")
            return
        }
        #expect(error.details == ["httpStatus": "429", "retryAfter": seconds])
        #expect(stack.isAtRest)
    }

    @Test(arguments: ["", "-1", "soon", "4294967296"])
    func whatIsNoNumberOfSecondsDoesNotCount(text: String) {
        var (stack, client) = Stack.staffed()
        stack.load(image, by: client)
        stack.finish(.fetch, Self.status(503, retryAfter: text))
        #expect((150...250).contains(pause(stack)))
    }

    @Test func whoComesMeanwhileShares() {
        var (stack, client) = Stack.staffed()
        let first = stack.load(image, by: client)
        stack.fail(.fetch, .connectionBroken)
        let same = stack.load(image, by: client)
        let other = stack.load(.image("a", size: 4, .fromLoaderOnly), by: client)
        #expect(stack.held(.fetch).isEmpty)
        stack.pass(milliseconds: 250)
        stack.finishAll()
        #expect([first, same, other].allSatisfy { stack.image($0) != nil })
        #expect(stack.gets == [url: 2])
        #expect(stack.isAtRest)
    }

    @Test func aDelayedTransferThatNobodyWantsIsForgotten() {
        var (stack, client) = Stack.staffed()
        let token = stack.load(image, by: client)
        stack.fail(.fetch, .timedOut)
        stack.send(.cancel(client, token))
        #expect(stack.error(token) == .cancelled)
        #expect(stack.isAtRest)
        stack.pass(milliseconds: 1_000)
        #expect(stack.gets == [url: 1])
    }

    @Test func aDeadlineDuringTheDelayEndsIt() {
        var (stack, client) = Stack.staffed()
        let short = stack.load(image.with { $0.timeoutMilliseconds = 1_000 }, by: client)
        let long = stack.load(image.with { $0.timeoutMilliseconds = 9_000 }, by: client)
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
    @Test func whoIsLeftAndCannotWaitIsToldAtOnce() {
        var (stack, client) = Stack.staffed()
        let short = stack.load(image.with { $0.timeoutMilliseconds = 1_000 }, by: client)
        let long = stack.load(image.with { $0.timeoutMilliseconds = 9_000 }, by: client)
        stack.finish(.fetch, Self.status(503, retryAfter: "2"))
        stack.send(.cancel(client, long))
        #expect(stack.error(short) == .invalidDownloadStatusCode)
        #expect(stack.isAtRest)
    }

    @Test func priorityAndDeadlineOfWhoJoinsCount() {
        var (stack, client) = Stack.staffed()
        stack.load(image.with { $0.timeoutMilliseconds = 1_000 }, by: client)
        stack.fail(.fetch, .timedOut)
        stack.load(
            image.with {
                $0.timeoutMilliseconds = 20_000
                $0.options.insert(.highPriority)
            }, by: client)
        stack.pass(milliseconds: 250)
        #expect(stack.held(.fetch).map(\.priority) == [.high])
        #expect(stack.held(.fetch).allSatisfy { $0.left > 19_000 })
    }

    @Test func theDelayCountsAsWaiting() {
        var (stack, client) = Stack.staffed()
        let token = stack.load(image, by: client)
        stack.finish(.fetch, Self.status(503, retryAfter: "2"))
        stack.pass(milliseconds: 2_000)
        stack.finishAll()
        #expect(stack.reply(token)?.timings.queue == 2_000)
    }

    @Test func progressDoesNotGoBackForWhoHasSeenIt() {
        var (stack, client) = Stack.staffed()
        func report(_ received: UInt64) {
            for held in stack.held(.fetch) {
                let progress = JobProgress(
                    id: held.job.id, attempt: held.job.attempt, received: received, expected: 90)
                stack.send(.progress(held.worker, progress))
            }
        }
        let first = stack.load(image, by: client, wantsProgress: true)
        report(0)
        report(50)
        stack.fail(.fetch, .shortBody)
        let second = stack.load(image, by: client, wantsProgress: true)
        stack.pass(milliseconds: 250)
        for received in [0, 20, 60, 90] as [UInt64] { report(received) }
        #expect(stack.progress[first]?.map(\.received) == [0, 50, 60, 90])
        #expect(stack.progress[second]?.map(\.received) == [0, 20, 60, 90])
    }

    @Test func aLostWorkerIsAnotherMatter() {
        var (stack, client) = Stack.staffed()
        let token = stack.load(image, by: client)
        for _ in 0..<2 {
            stack.fail(.fetch, .timedOut)
            stack.pass(milliseconds: 500)
            stack.kill(stack.worker(.download))
            stack.hire(.download)
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
