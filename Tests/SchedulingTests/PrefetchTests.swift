import Model
import Testing

@testable import Coordinator

/// Batches of URLs that will be needed (SEMANTICS §12).
struct PrefetchTests {
    private func stack() -> (Stack, ClientID) {
        var stack = Stack()
        stack.hireAll(credit: 100)
        let client = stack.connect()
        return (stack, client)
    }

    private func names(_ count: Int) -> [String] { (0..<count).map { "p\($0)" } }

    @Test func everyURLIsStoredAndReportedAndNothingIsDelivered() {
        var (stack, client) = stack()
        let batch = stack.prefetch(names(3), by: client)
        stack.finishEverything()
        let reports = stack.prefetchReports[batch] ?? []
        #expect(reports.map(\.finished) == [1, 2, 3])
        #expect(reports.map(\.isFinal) == [false, false, true])
        #expect(
            stack.report(batch)
                == PrefetchReport(batch: batch, total: 3, finished: 3, isFinal: true))
        #expect(stack.counters.stores == 6, "results and originals")
        #expect(stack.replies.isEmpty)
        #expect(stack.counters.prefetched == 3)
        #expect(stack.isAtRest)
    }

    @Test func anEmptyBatchEndsAtOnce() {
        var (stack, client) = stack()
        let batch = stack.prefetch([], by: client)
        #expect(stack.prefetchReports[batch] == [PrefetchReport(batch: batch, isFinal: true)])
        #expect(stack.isAtRest)
    }

    @Test func threeRunAtATimeInClassLow() {
        var (stack, client) = stack()
        let (first, second) = (
            stack.prefetch(names(5), by: client),
            stack.prefetch(["x", "y"], by: client)
        )
        #expect(stack.allHeld.count == 3, "over all batches of a client, as upstream")
        #expect(stack.allHeld.allSatisfy { $0.priority == .low })
        let other = stack.connect()
        stack.prefetch(["z"], by: other)
        #expect(stack.allHeld.count == 4, "others have their own limit of three")
        stack.finishEverything()
        #expect(stack.report(first)?.finished == 5)
        #expect(stack.report(second)?.finished == 2)
        #expect(stack.report(second)?.total == 2)
        #expect(stack.isAtRest)
    }

    @Test func batchesOfAClientTakeTurns() {
        var (stack, client) = stack()
        stack.prefetch(names(50), by: client)
        let short = stack.prefetch(["x"], by: client)
        for _ in 0..<80 where stack.report(short) == nil { stack.finish(stack.allHeld[0]) }
        #expect(
            stack.report(short)?.isFinal == true, "the short one does not wait for the long one")
        stack.finishEverything()
        #expect(stack.isAtRest)
    }

    @Test func asManyRunAsTheBatchThatWantsMostSays() {
        var (stack, client) = stack()
        stack.prefetch(names(30), by: client, concurrency: 10)
        #expect(stack.allHeld.count == 10)
        stack.prefetch(["x", "y"], by: client, concurrency: 1)
        #expect(stack.allHeld.count == 10)
        let refused = stack.prefetch(["z"], by: client, concurrency: 65)
        #expect(stack.refusals[refused]?.code == .invalidRequest)
        stack.finishEverything()
        #expect(stack.isAtRest)
    }

    @Test func failuresAreFinishedAndSkipped() {
        var (stack, client) = stack()
        let batch = stack.prefetch(
            ["a", "b", "not a URL"], by: client, like: .image(size: 5, .fromLoaderOnly))
        #expect(stack.report(batch)?.skipped == 1)
        let fetch = stack.held(.fetch)[0]
        stack.finish(fetch, .failed(ImageError(.tlsFailed, "as told")))
        stack.finishEverything()
        let failures = stack.report(batch)?.failures ?? []
        #expect(failures.map(\.error.code) == [.invalidURL, .tlsFailed])
        #expect(failures.first?.url.contains("not a URL") == true)
        #expect(failures.last?.error.message == "as told")
        #expect(
            stack.report(batch)
                == PrefetchReport(
                    batch: batch, total: 3, finished: 3, skipped: 2, isFinal: true,
                    failures: failures,
                    ends: PrefetchEnds(errors: [.init(.invalidURL, 1), .init(.tlsFailed, 1)])))
        #expect(stack.isAtRest)
    }

    @Test func aMissOfTheCachesIsNoError() {
        var (stack, client) = stack()
        let batch = stack.prefetch(["a"], by: client, like: .image(size: 5, .fromCacheOnly))
        stack.finishEverything()
        #expect(
            stack.report(batch)
                == PrefetchReport(
                    batch: batch, total: 1, finished: 1, isFinal: true,
                    ends: PrefetchEnds(missed: 1)))
    }

    @Test func whatTheCachesHadIsCounted() {
        var (stack, client) = stack()
        let batch = stack.prefetch(names(2), by: client, like: .image(size: 5))
        let query = stack.held(.query)[0]
        stack.finish(query, stack.hit(query))
        stack.finishEverything()
        #expect(stack.report(batch)?.finished == 2)
        #expect(stack.report(batch)?.ends == PrefetchEnds(cached: 1))
        #expect(stack.isAtRest)
    }

    @Test func aLoadOfTheLastURLIsServedNext() {
        var stack = Stack()
        stack.hireAll(credit: 1)
        let client = stack.connect()
        let batch = stack.prefetch(names(1_000), by: client)
        let token = stack.load(.image("p999", size: 5), by: client)
        var finished = 0
        while stack.reply(token) == nil, let held = stack.allHeld.first {
            stack.finish(held)
            finished += 1
        }
        #expect(stack.image(token) != nil)
        #expect(finished < 25, "\(finished) jobs were done first")
        stack.finishEverything()
        #expect(stack.report(batch)?.finished == 1_000)
        #expect(stack.report(batch)?.skipped == 0)
        #expect(stack.isAtRest)
    }

    @Test func aLoadJoinsARunningURLAndRaisesItsClass() {
        var (stack, client) = stack()
        stack.prefetch(["a"], by: client, like: .image(size: 5, .fromLoaderOnly))
        let token = stack.load(.image("a", size: 5, .fromLoaderOnly), by: client)
        #expect(stack.held(.fetch).map(\.priority) == [.normal])
        stack.finishEverything()
        #expect(stack.counters.fetches == 1)
        #expect(stack.image(token) != nil)
        #expect(stack.isAtRest)
    }

    @Test func whatIsInMemoryIsCountedWithoutWork() {
        var (stack, client) = stack()
        let image = ImageRequest.image("a", size: 5)
        guard let url = try? SourceURL(image.url) else { return }
        stack.publish(CacheKey.result(image, url: url, terms: LoadTerms()), length: 2 << 20)
        let batch = stack.prefetch(["a", "a"], by: client)
        #expect(stack.report(batch)?.finished == 2)
        #expect(stack.report(batch)?.ends == PrefetchEnds(cached: 2))
        #expect(stack.counters.memoryHits == 2)
        #expect(!stack.scheduler.hits.blocks.hasDeliveries, "the block is not kept")
        #expect(stack.isAtRest)
    }

    @Test func aLargeResultIsKeptForNobody() {
        var (stack, client) = stack()
        stack.prefetch(["a"], by: client, like: .image(size: 5, .fromLoaderOnly))
        stack.run(.fetch, .decode)
        let transform = stack.held(.transform)[0]
        stack.finish(transform, stack.success(transform, length: 2 << 20))
        stack.finishEverything()
        #expect(!stack.scheduler.hits.blocks.hasDeliveries)
        #expect(stack.isAtRest)
    }

    @Test func manyHitsDoNotKeepOthersWaiting() {
        var (stack, client) = stack()
        let image = ImageRequest.image("a", size: 5)
        guard let url = try? SourceURL(image.url) else { return }
        stack.publish(CacheKey.result(image, url: url, terms: LoadTerms()))
        let batch = stack.prefetch(Array(repeating: "a", count: 1_000), by: client)
        #expect(stack.report(batch)?.finished == 64)
        #expect(stack.scheduler.nextDeadline == stack.now, "it continues at once")
        stack.finishEverything()
        #expect(stack.report(batch)?.isFinal == true)
        #expect((stack.prefetchReports[batch] ?? []).count < 20, "one report an event")
        #expect(stack.isAtRest)
    }

    @Test func cancellingEndsWhatWaitsAndWhatRuns() {
        var (stack, client) = stack()
        let batch = stack.prefetch(names(10), by: client, like: .image(size: 5, .fromLoaderOnly))
        stack.finish(stack.held(.fetch)[0], .failed(ImageError(.tlsFailed, "as told")))
        stack.send(.cancel(client, batch))
        let failures = stack.report(batch)?.failures ?? []
        #expect(failures.map(\.error.code) == [.tlsFailed])
        #expect(
            stack.report(batch)
                == PrefetchReport(
                    batch: batch, total: 10, finished: 1, skipped: 1, cancelled: 9, isFinal: true,
                    failures: failures, ends: PrefetchEnds(errors: [.init(.tlsFailed, 1)])))
        #expect(stack.allHeld.allSatisfy { $0.isCancelled })
        stack.send(.cancel(client, batch))
        #expect(stack.prefetchReports[batch]?.count == 2, "once")
        stack.finishEverything()
        #expect(stack.isAtRest)
    }

    @Test(arguments: 0..<3) func itIsCancelledByOthersToo(way: Int) {
        var (stack, client) = stack()
        let batch = stack.prefetch(names(10), by: client)
        switch way {
        case 0: stack.send(.cancelAny(batch))
        case 1: stack.send(.cancelGroupOfAny(GroupID(batch.value)))
        default: stack.send(.cancelGroup(client, GroupID(batch.value)))
        }
        #expect(stack.report(batch)?.cancelled == 10)
        stack.finishEverything()
        #expect(stack.isAtRest)
    }

    @Test func otherClientsCannotCancelOrContinueIt() {
        var (stack, client) = stack()
        let batch = stack.prefetch(names(10), by: client, isLast: false)
        let other = stack.connect()
        stack.send(.cancel(other, batch))
        stack.prefetch(["x"], by: other, batch: batch)
        #expect(stack.refusals[batch]?.code == .tokenInUse)
        #expect(stack.report(batch) == nil)
        stack.prefetch([], by: client, batch: batch)
        stack.finishEverything()
        #expect(stack.report(batch)?.finished == 10)
        #expect(stack.isAtRest)
    }

    @Test func itEndsWithItsClient() {
        var (stack, client) = stack()
        let kept = stack.load(.image("p0", size: 5, .fromLoaderOnly), by: stack.connect())
        stack.prefetch(names(10), by: client, like: .image(size: 5, .fromLoaderOnly))
        stack.disconnect(client)
        #expect(stack.held(.fetch).count == 1, "another client's loads continue")
        stack.finishEverything()
        #expect(stack.image(kept) != nil)
        #expect(stack.isAtRest)
    }

    @Test func partsOfABatchThatHasEndedArePassedOver() {
        var (stack, client) = stack()
        let batch = stack.prefetch(["a"], by: client, isLast: false)
        stack.send(.cancel(client, batch))
        stack.prefetch(["b"], by: client, batch: batch, isLast: false)
        stack.prefetch(["c"], by: client, batch: batch)
        stack.prefetching[batch] = nil
        #expect(stack.prefetchReports[batch]?.count == 1)
        #expect(stack.allHeld.allSatisfy { $0.isCancelled })
        stack.prefetch(["d"], by: client, batch: batch)
        stack.finishEverything()
        #expect(stack.report(batch)?.finished == 1, "the token is free again")
        #expect(stack.isAtRest)
    }

    @Test func moreThanIsPermittedIsBusy() {
        var stack = Stack { limits in
            limits.batchesPerClientMax = 2
            limits.prefetchesPerClientMax = 10
            limits.prefetchBytesPerClientMax = 1_000
        }
        stack.hireAll()
        let client = stack.connect()
        let first = stack.prefetch(names(9), by: client, isLast: false)
        stack.prefetch(names(9), by: client, batch: first)
        #expect(stack.refusals[first]?.code == .busy, "and the batch has ended")
        let long = String(repeating: "x", count: 1_000)
        #expect(stack.refusals[stack.prefetch([long], by: client)]?.code == .busy)
        stack.prefetch(["a"], by: client)
        stack.prefetch(["b"], by: client)
        #expect(stack.refusals[stack.prefetch(["c"], by: client)]?.code == .busy)
        #expect(stack.counters.refusedBusy == 3)
        stack.finishEverything()
        #expect(stack.isAtRest)
    }

    @Test func whatURLsCostIsBoundedForEachClientAndForAll() {
        var stack = Stack { limits in
            limits.prefetchBytesPerClientMax = 10 * (SchedulerLimits.prefetchOverheadBytes + 25)
            limits.prefetchBytesMax = 15 * (SchedulerLimits.prefetchOverheadBytes + 25)
        }
        let (client, other) = (stack.connect(), stack.connect())
        #expect(ImageRequest.image("p0").url.utf8.count == 25)
        let tooMany = stack.prefetch(names(11).map { String($0.prefix(2)) }, by: client)
        #expect(stack.refusals[tooMany]?.code == .busy)
        let batch = stack.prefetch(names(10), by: client, isLast: false)
        #expect(stack.refusals[batch] == nil)
        let second = stack.prefetch(names(10), by: other, isLast: false)
        #expect(stack.refusals[second]?.code == .busy, "together they have too many")
        #expect(stack.refusals[stack.prefetch(names(5), by: other, isLast: false)] == nil)
    }

    @Test func aURLIsResolvedWhenItIsBegunAndNotBefore() {
        var (stack, client) = stack()
        let batch = stack.prefetch(names(5), by: client, like: .image(size: 5, .fromLoaderOnly))
        #expect(stack.gets.count == 3)
        // The configuration has changed.
        let terms = [3, 4].map { ImageRequest.image("p\($0)") }.map { own in
            (own.url, Resolution(own, LoadTerms().refusing(.addressForbidden)))
        }
        stack.resolve(Dictionary(uniqueKeysWithValues: terms))
        stack.finishEverything()
        #expect(stack.gets.count == 3)
        #expect(stack.report(batch)?.skipped == 2)
        #expect(stack.report(batch)?.finished == 5)
        #expect(stack.isAtRest)
    }

    @Test func aBatchHasAtMostAHundredThousandURLs() {
        var (stack, client) = stack()
        let part = Array(repeating: "a", count: 50_000)
        let batch = stack.prefetch(part, by: client, isLast: false)
        stack.prefetch(part, by: client, batch: batch, isLast: false)
        stack.prefetch(["a"], by: client, batch: batch)
        #expect(stack.refusals[batch]?.code == .limitExceeded)
        stack.finishEverything()
        #expect(stack.isAtRest)
    }

    @Test func aTemplateThatMakesNoSenseIsRefusedAtOnce() {
        var (stack, client) = stack()
        let wrong = ImageRequest.image(size: 0)
        #expect(
            stack.refusals[stack.prefetch(["a"], by: client, like: wrong)]?.code == .invalidRequest)
        let handled = ImageRequest.image(size: 5, .handleCookies)
        #expect(
            stack.refusals[stack.prefetch(["a"], by: client, like: handled)]?.code == .notSupported)
        #expect(stack.isAtRest)
    }

    @Test func aTokenNamesOneThing() {
        var (stack, client) = stack()
        let load = stack.load(.image("a", size: 5), by: client)
        stack.prefetch(["b"], by: client, batch: load)
        #expect(stack.refusals[load]?.code == .tokenInUse)
        let batch = stack.prefetch(["c"], by: client)
        stack.load(.image("d", size: 5), by: client, token: batch)
        #expect(stack.error(batch) == .tokenInUse)
        stack.waiting[batch] = nil
        stack.finishEverything()
        #expect(stack.isAtRest)
    }

    @Test func aDrainLeavesTheRestToTheNextCoordinator() {
        var (stack, client) = stack()
        let batch = stack.prefetch(names(10), by: client)
        stack.send(.drain)
        #expect(stack.refusals[batch]?.code == .shuttingDown)
        let late = stack.prefetch(["a"], by: client)
        #expect(stack.refusals[late]?.code == .shuttingDown)
        #expect(stack.wasDrained)
        stack.finishEverything()
        #expect(stack.isAtRest)
    }

    @Test func aPrefetchWaitsWhereALoadWouldBeBusy() {
        var stack = Stack { $0.liveRequestsMax = 2 }
        stack.hireAll()
        let client = stack.connect()
        let token = stack.load(.image("a", size: 5), by: client)
        let batch = stack.prefetch(names(5), by: client)
        #expect(stack.scheduler.report["liveRequests"] == 2)
        #expect(stack.scheduler.nextDeadline != stack.now, "no busy loop")
        stack.finishEverything()
        #expect(stack.image(token) != nil)
        #expect(stack.report(batch)?.skipped == 0)
        #expect(stack.isAtRest)
    }

    @Test func credentialsOfEachURLKeepItsImagesApart() {
        var (stack, client) = stack()
        let urls = ["http://u:p@example.org/a.jpg", "http://example.org/a.jpg"]
        stack.prefetching[Token(Identifier128(high: 2, low: 7))] = client
        let own = ImageRequest.image(size: 5).with { $0.url = urls[0] }
        stack.resolve([urls[0]: Resolution(own, LoadTerms(identity: "d1"))])
        stack.send(
            .prefetch(
                client,
                PrefetchRequest(
                    batch: Token(Identifier128(high: 2, low: 7)), image: .image(size: 5),
                    urls: urls),
                LoadTerms()))
        let keys = stack.held(.query).compactMap { held in
            if case .query(let query) = held.job.work { query.key } else { nil }
        }
        #expect(keys.count == 2)
        #expect(keys.count { $0.contains("-Auth(d1)") } == 1)
        stack.finishEverything()
        #expect(stack.isAtRest)
    }

    @Test func aBatchIsReprioritizedInWhole() {
        var (stack, client) = stack()
        let image = ImageRequest.image(size: 5, .fromLoaderOnly)
        let batch = stack.prefetch(names(10), by: client, like: image)
        stack.send(.reprioritize(client, batch, .normal))
        #expect(stack.allHeld.map(\.priority) == [.normal, .normal, .normal])
        stack.finish(stack.held(.fetch)[0], .failed(ImageError(.tlsFailed, "as told")))
        #expect(stack.allHeld.map(\.priority) == [.normal, .normal, .normal], "and what waited")
        stack.finishEverything()
        #expect(stack.isAtRest)
    }
}
