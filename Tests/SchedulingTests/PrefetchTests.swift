import Model
import Testing

@testable import Coordinator

/// Batches of URLs that will be needed (SEMANTICS §12).
struct PrefetchTests {
    private var stack = Stack.staffed(credit: 100)

    private func names(_ count: Int) -> [String] { (0..<count).map { "p\($0)" } }

    @Test mutating func everyURLIsStoredAndReportedAndNothingIsDelivered() {
        let batch = stack.prefetch(names(3))
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

    @Test mutating func anEmptyBatchEndsAtOnce() {
        let batch = stack.prefetch([])
        #expect(stack.prefetchReports[batch] == [PrefetchReport(batch: batch, isFinal: true)])
        #expect(stack.isAtRest)
    }

    @Test mutating func threeRunAtATimeInClassLow() {
        let (first, second) = (stack.prefetch(names(5)), stack.prefetch(["x", "y"]))
        #expect(stack.allHeld.count == 3, "over all batches of a client, as upstream")
        #expect(stack.allHeld.allSatisfy { $0.priority == .low })
        let other = stack.connect()
        stack.prefetch(["z"], by: other)
        #expect(stack.allHeld.count == 4, "others have their own limit of three")
        stack.endBatches()
        #expect(stack.report(first)?.finished == 5)
        #expect(stack.report(second)?.finished == 2)
        #expect(stack.report(second)?.total == 2)
    }

    @Test mutating func batchesOfAClientTakeTurns() {
        stack.prefetch(names(50))
        let short = stack.prefetch(["x"])
        for _ in 0..<80 where stack.report(short) == nil { stack.finish(stack.allHeld[0]) }
        #expect(
            stack.report(short)?.isFinal == true, "the short one does not wait for the long one")
        stack.endBatches()
    }

    @Test mutating func asManyRunAsTheBatchThatWantsMostSays() {
        stack.prefetch(names(30), concurrency: 10)
        #expect(stack.allHeld.count == 10)
        stack.prefetch(["x", "y"], concurrency: 1)
        #expect(stack.allHeld.count == 10)
        let refused = stack.prefetch(["z"], concurrency: 65)
        #expect(stack.refusals[refused]?.code == .invalidRequest)
        stack.endBatches()
    }

    @Test mutating func failuresAreFinishedAndSkipped() {
        let batch = stack.prefetch(["a", "b", "not a URL"], like: .loader(size: 5))
        #expect(stack.report(batch)?.skipped == 1)
        let fetch = stack.held(.fetch)[0]
        stack.fail(fetch, .tlsFailed)
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

    @Test mutating func aMissOfTheCachesIsNoError() {
        let batch = stack.prefetch(["a"], like: .image(size: 5, .fromCacheOnly))
        stack.finishEverything()
        #expect(
            stack.report(batch)
                == PrefetchReport(
                    batch: batch, total: 1, finished: 1, isFinal: true,
                    ends: PrefetchEnds(missed: 1)))
    }

    @Test mutating func whatTheCachesHadIsCounted() {
        let batch = stack.prefetch(names(2), like: .image(size: 5))
        stack.find()
        stack.endBatches()
        #expect(stack.report(batch)?.finished == 2)
        #expect(stack.report(batch)?.ends == PrefetchEnds(cached: 1))
    }

    @Test mutating func aLoadOfTheLastURLIsServedNext() {
        stack = Stack.staffed(credit: 1)
        let batch = stack.prefetch(names(1_000))
        let token = stack.load(.image("p999", size: 5))
        var finished = 0
        while stack.reply(token) == nil, let held = stack.allHeld.first {
            stack.finish(held)
            finished += 1
        }
        #expect(stack.image(token) != nil)
        #expect(finished < 25, "\(finished) jobs were done first")
        stack.endBatches()
        #expect(stack.report(batch)?.finished == 1_000)
        #expect(stack.report(batch)?.skipped == 0)
    }

    @Test mutating func aLoadJoinsARunningURLAndRaisesItsClass() {
        stack.prefetch(["a"], like: .loader(size: 5))
        let token = stack.load(.loader(size: 5))
        #expect(stack.held(.fetch).map(\.priority) == [.normal])
        stack.endBatches(token)
        #expect(stack.counters.fetches == 1)
    }

    @Test mutating func whatIsInMemoryIsCountedWithoutWork() {
        let image = ImageRequest.image("a", size: 5)
        guard let url = try? SourceURL(image.url) else { return }
        stack.publish(CacheKey.result(image, url: url, terms: LoadTerms()), length: 2 << 20)
        let batch = stack.prefetch(["a", "a"])
        #expect(stack.report(batch)?.finished == 2)
        #expect(stack.report(batch)?.ends == PrefetchEnds(cached: 2))
        #expect(stack.counters.memoryHits == 2)
        #expect(!stack.scheduler.hits.blocks.hasDeliveries, "the block is not kept")
        #expect(stack.isAtRest)
    }

    @Test mutating func aLargeResultIsKeptForNobody() {
        stack.prefetch(["a"], like: .loader(size: 5))
        stack.run(.fetch, .decode)
        stack.transform(length: 2 << 20)
        stack.endBatches()
        #expect(!stack.scheduler.hits.blocks.hasDeliveries)
    }

    @Test mutating func manyHitsDoNotKeepOthersWaiting() {
        let image = ImageRequest.image("a", size: 5)
        guard let url = try? SourceURL(image.url) else { return }
        stack.publish(CacheKey.result(image, url: url, terms: LoadTerms()))
        let batch = stack.prefetch(Array(repeating: "a", count: 1_000))
        #expect(stack.report(batch)?.finished == 64)
        #expect(stack.scheduler.nextDeadline == stack.now, "it continues at once")
        stack.endBatches()
        #expect(stack.report(batch)?.isFinal == true)
        #expect((stack.prefetchReports[batch] ?? []).count < 20, "one report an event")
    }

    @Test mutating func cancellingEndsWhatWaitsAndWhatRuns() {
        let batch = stack.prefetch(names(10), like: .loader(size: 5))
        stack.fail(stack.held(.fetch)[0], .tlsFailed)
        stack.cancel(batch)
        let failures = stack.report(batch)?.failures ?? []
        #expect(failures.map(\.error.code) == [.tlsFailed])
        #expect(
            stack.report(batch)
                == PrefetchReport(
                    batch: batch, total: 10, finished: 1, skipped: 1, cancelled: 9, isFinal: true,
                    failures: failures, ends: PrefetchEnds(errors: [.init(.tlsFailed, 1)])))
        #expect(stack.allHeld.allSatisfy { $0.isCancelled })
        stack.cancel(batch)
        #expect(stack.prefetchReports[batch]?.count == 2, "once")
        stack.endBatches()
    }

    @Test(arguments: 0..<3) mutating func itIsCancelledByOthersToo(way: Int) {
        let batch = stack.prefetch(names(10))
        switch way {
        case 0: stack.send(.cancelAny(batch))
        case 1: stack.send(.cancelGroupOfAny(GroupID(batch.value)))
        default: stack.send(.cancelGroup(stack.client, GroupID(batch.value)))
        }
        #expect(stack.report(batch)?.cancelled == 10)
        stack.endBatches()
    }

    @Test mutating func otherClientsCannotCancelOrContinueIt() {
        let batch = stack.prefetch(names(10), isLast: false)
        let other = stack.connect()
        stack.send(.cancel(other, batch))
        stack.prefetch(["x"], by: other, batch: batch)
        #expect(stack.refusals[batch]?.code == .tokenInUse)
        #expect(stack.report(batch) == nil)
        stack.prefetch([], batch: batch)
        stack.endBatches()
        #expect(stack.report(batch)?.finished == 10)
    }

    @Test mutating func itEndsWithItsClient() {
        let kept = stack.load(.loader("p0", size: 5), by: stack.connect())
        stack.prefetch(names(10), like: .loader(size: 5))
        stack.disconnect()
        #expect(stack.held(.fetch).count == 1, "another client's loads continue")
        stack.endBatches(kept)
    }

    @Test mutating func partsOfABatchThatHasEndedArePassedOver() {
        let batch = stack.prefetch(["a"], isLast: false)
        stack.cancel(batch)
        stack.prefetch(["b"], batch: batch, isLast: false)
        stack.prefetch(["c"], batch: batch)
        stack.prefetching[batch] = nil
        #expect(stack.prefetchReports[batch]?.count == 1)
        #expect(stack.allHeld.allSatisfy { $0.isCancelled })
        stack.prefetch(["d"], batch: batch)
        stack.endBatches()
        #expect(stack.report(batch)?.finished == 1, "the token is free again")
    }

    @Test mutating func moreThanIsPermittedIsBusy() {
        stack = Stack.staffed { limits in
            limits.batchesPerClientMax = 2
            limits.prefetchesPerClientMax = 10
            limits.prefetchBytesPerClientMax = 1_000
        }
        let first = stack.prefetch(names(9), isLast: false)
        stack.prefetch(names(9), batch: first)
        #expect(stack.refusals[first]?.code == .busy, "and the batch has ended")
        let long = String(repeating: "x", count: 1_000)
        #expect(stack.refusals[stack.prefetch([long])]?.code == .busy)
        stack.prefetch(["a"])
        stack.prefetch(["b"])
        #expect(stack.refusals[stack.prefetch(["c"])]?.code == .busy)
        #expect(stack.counters.refusedBusy == 3)
        stack.endBatches()
    }

    @Test mutating func whatURLsCostIsBoundedForEachClientAndForAll() {
        stack = Stack { limits in
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

    @Test mutating func aURLIsResolvedWhenItIsBegunAndNotBefore() {
        let batch = stack.prefetch(names(5), like: .loader(size: 5))
        #expect(stack.gets.count == 3)
        // The configuration has changed.
        let terms = [3, 4].map { ImageRequest.image("p\($0)") }.map { own in
            (own.url, Resolution(own, LoadTerms().refusing(.addressForbidden)))
        }
        stack.resolve(Dictionary(uniqueKeysWithValues: terms))
        stack.endBatches()
        #expect(stack.gets.count == 3)
        #expect(stack.report(batch)?.skipped == 2)
        #expect(stack.report(batch)?.finished == 5)
    }

    @Test mutating func aBatchHasAtMostAHundredThousandURLs() {
        let part = Array(repeating: "a", count: 50_000)
        let batch = stack.prefetch(part, isLast: false)
        stack.prefetch(part, batch: batch, isLast: false)
        stack.prefetch(["a"], batch: batch)
        #expect(stack.refusals[batch]?.code == .limitExceeded)
        stack.endBatches()
    }

    @Test mutating func aTemplateThatMakesNoSenseIsRefusedAtOnce() {
        let wrong = ImageRequest.image(size: 0)
        #expect(stack.refusals[stack.prefetch(["a"], like: wrong)]?.code == .invalidRequest)
        let handled = ImageRequest.image(size: 5, .handleCookies)
        #expect(stack.refusals[stack.prefetch(["a"], like: handled)]?.code == .notSupported)
        #expect(stack.isAtRest)
    }

    @Test mutating func aTokenNamesOneThing() {
        let load = stack.load(.image("a", size: 5))
        stack.prefetch(["b"], batch: load)
        #expect(stack.refusals[load]?.code == .tokenInUse)
        let batch = stack.prefetch(["c"])
        stack.load(.image("d", size: 5), token: batch)
        #expect(stack.error(batch) == .tokenInUse)
        stack.waiting[batch] = nil
        stack.endBatches()
    }

    @Test mutating func aDrainLeavesTheRestToTheNextCoordinator() {
        let batch = stack.prefetch(names(10))
        stack.send(.drain)
        #expect(stack.refusals[batch]?.code == .shuttingDown)
        let late = stack.prefetch(["a"])
        #expect(stack.refusals[late]?.code == .shuttingDown)
        #expect(stack.wasDrained)
        stack.endBatches()
    }

    @Test mutating func aPrefetchWaitsWhereALoadWouldBeBusy() {
        stack = Stack.staffed { $0.liveRequestsMax = 2 }
        let token = stack.load(.image("a", size: 5))
        let batch = stack.prefetch(names(5))
        #expect(stack.scheduler.report["liveRequests"] == 2)
        #expect(stack.scheduler.nextDeadline != stack.now, "no busy loop")
        stack.endBatches(token)
        #expect(stack.report(batch)?.skipped == 0)
    }

    @Test mutating func credentialsOfEachURLKeepItsImagesApart() {
        let urls = ["http://u:p@example.org/a.jpg", "http://example.org/a.jpg"]
        stack.prefetching[Token(Identifier128(high: 2, low: 7))] = stack.client
        let own = ImageRequest.image(size: 5).with { $0.url = urls[0] }
        stack.resolve([urls[0]: Resolution(own, LoadTerms(identity: "d1"))])
        stack.send(
            .prefetch(
                stack.client,
                PrefetchRequest(
                    batch: Token(Identifier128(high: 2, low: 7)), image: .image(size: 5),
                    urls: urls),
                LoadTerms()))
        let keys = stack.queries.map(\.key)
        #expect(keys.count == 2)
        #expect(keys.count { $0.contains("-Auth(d1)") } == 1)
        stack.endBatches()
    }

    @Test mutating func aBatchIsReprioritizedInWhole() {
        let image = ImageRequest.loader(size: 5)
        let batch = stack.prefetch(names(10), like: image)
        stack.reprioritize(batch, .normal)
        #expect(stack.allHeld.map(\.priority) == [.normal, .normal, .normal])
        stack.fail(stack.held(.fetch)[0], .tlsFailed)
        #expect(stack.allHeld.map(\.priority) == [.normal, .normal, .normal], "and what waited")
        stack.endBatches()
    }
}
