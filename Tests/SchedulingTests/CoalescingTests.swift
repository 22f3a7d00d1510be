import Model
import Testing

@testable import Coordinator

struct CoalescingTests {
    @Test func aThousandRequestsForOneURLAreOneQueryOneFetchAndOneDecode() {
        var stack = Stack()
        stack.hireAll()
        let client = stack.connect()
        let tokens = (0..<1_000).map { _ in stack.load(.image(size: 5), by: client) }
        #expect(stack.counters.coalesced.requests == 999)
        stack.run(.query, .query, .fetch, .decode, .transform)
        stack.finishAll()
        #expect(tokens.allSatisfy { stack.image($0) != nil })
        #expect(stack.counters.fetches == 1)
        #expect(stack.counters.decodes == 1)
        #expect(stack.counters.transforms == 1)
        #expect(stack.isAtRest)
    }

    @Test func tenSizesOfOneURLAreOneTransfer() {
        var stack = Stack()
        stack.hireAll(credit: 10)
        let client = stack.connect()
        let tokens = (1...10).map { stack.load(.image(size: $0), by: client) }
        #expect(stack.held(.query).count == 10)
        for query in stack.held(.query) { stack.finish(query) }
        #expect(stack.held(.query).count == 1, "one query of the original for all")
        stack.run(.query, .fetch)
        #expect(stack.held(.decode).count == 10)
        stack.finishAll()
        #expect(tokens.allSatisfy { stack.image($0) != nil })
        #expect(stack.counters.fetches == 1)
        #expect(stack.isAtRest)
    }

    @Test func twoFormatsOfOneSizeShareTheirPixels() {
        var stack = Stack()
        stack.hireAll()
        let client = stack.connect()
        stack.load(.image(size: 5), by: client)
        stack.load(.image(size: 5).with { $0.output.format = .webp }, by: client)
        for query in stack.held(.query) { stack.finish(query) }
        stack.run(.query, .fetch, .decode)
        #expect(stack.held(.transform).count == 2)
        stack.finishAll()
        #expect(stack.counters.decodes == 1)
        #expect(stack.isAtRest)
    }

    @Test func whoComesWhileThePixelsAreUsedTakesThem() {
        var stack = Stack()
        stack.hireAll()
        let client = stack.connect()
        stack.load(.image(size: 5), by: client)
        stack.run(.query, .query, .fetch, .decode, .store)
        let late = stack.load(.image(size: 5).with { $0.output.format = .webp }, by: client)
        stack.run(.query, .query)
        #expect(stack.held(.fetch).isEmpty)
        stack.finishAll()
        #expect(stack.image(late) != nil)
        #expect(stack.counters.decodes == 1)
        #expect(stack.isAtRest)
    }

    @Test func whoMayNotFetchNeverWaitsForAFetch() {
        var stack = Stack()
        stack.hireAll()
        let client = stack.connect()
        stack.load(.image(size: 5), by: client)
        stack.run(.query, .query)
        let modest = stack.load(.image("a", size: 5, .fromCacheOnly), by: client)
        stack.run(.query, .query)
        #expect(stack.isMiss(modest))
        stack.finishAll()
        #expect(stack.isAtRest)
    }

    @Test func whoWantsTheLoaderJoinsAFetchAndNoQuery() {
        var stack = Stack()
        stack.hireAll()
        let client = stack.connect()
        let plain = stack.load(.image(), by: client)
        let strict = stack.load(.image("a", size: nil, .fromLoaderOnly), by: client)
        #expect(stack.held(.fetch).count == 1)
        let query = stack.held(.query)[0]
        stack.finish(query, stack.hit(query, tier: .memory))
        #expect(stack.image(plain)?.cacheType == .memory)
        #expect(stack.reply(strict) == nil, "a hit isn't for loads that skip the caches")
        let second = stack.load(.image("a", size: nil, .fromLoaderOnly), by: client)
        stack.run(.fetch, .decode, .store)
        #expect(stack.image(strict)?.cacheType == CacheTypes.none)
        #expect(stack.image(second) != nil)
        #expect(stack.counters.fetches == 1)
        #expect(stack.isAtRest)
    }

    @Test func whoAsksTheCacheDoesNotWaitForAFetchOfSomebodyWhoDidNot() {
        var stack = Stack()
        stack.hireAll()
        let client = stack.connect()
        stack.load(.image("a", size: nil, .fromLoaderOnly), by: client)
        let plain = stack.load(.image(), by: client)
        let query = stack.held(.query)[0]
        stack.finish(query, stack.hit(query))
        #expect(stack.image(plain)?.cacheType == .disk)
        stack.finishAll()
        #expect(stack.isAtRest)
    }

    @Test func tiersOfThoseWhoShareAreUnited() {
        var stack = Stack()
        stack.hireAll()
        let client = stack.connect()
        for tiers in [CacheTypes.memory, .disk] {
            let image = ImageRequest.image("a", size: 5, .fromLoaderOnly).with {
                $0.storeCacheTypes = tiers
                $0.originalStoreCacheTypes = tiers == .disk ? .none : .memory
            }
            stack.load(image, by: client)
        }
        stack.run(.fetch, .decode)
        guard case .store(let original) = stack.held(.store).first?.job.work else {
            Issue.record("the original is stored for the first one")
            return
        }
        #expect(original.tiers == .memory)
        stack.run(.store, .transform)
        guard case .store(let result) = stack.held(.store).first?.job.work else {
            Issue.record("the result is delivered")
            return
        }
        #expect(result.tiers == .all)
        stack.finishAll()
        #expect(stack.isAtRest)
    }

    @Test func whoComesDuringTheDeliveryAndWantsMoreIsServedByAnotherRound() {
        var stack = Stack()
        stack.hireAll()
        let client = stack.connect()
        func image(_ tiers: CacheTypes) -> ImageRequest {
            ImageRequest.image("a", size: 5, .fromLoaderOnly).with {
                $0.storeCacheTypes = tiers
                $0.originalStoreCacheTypes = .none
            }
        }
        let first = stack.load(image(.memory), by: client)
        stack.run(.fetch, .decode, .transform)
        let same = stack.load(image(.memory), by: client)
        let more = stack.load(image(.all), by: client)
        stack.finish(.store)
        #expect(stack.image(first) != nil)
        #expect(stack.image(same) != nil)
        #expect(stack.reply(more) == nil)
        guard case .store(let again) = stack.held(.store).first?.job.work else {
            Issue.record("it is stored once more")
            return
        }
        #expect(again.tiers == .all)
        stack.finishAll()
        #expect(stack.image(more) != nil)
        #expect(stack.counters.fetches == 1)
        #expect(stack.isAtRest)
    }

    @Test func whoComesWhileTheOriginalIsBeingStoredUsesTheBytesThatAreThere() {
        var stack = Stack()
        stack.hireAll()
        let client = stack.connect()
        stack.load(.image(size: 5), by: client)
        stack.run(.query, .query, .fetch, .decode, .transform)
        // Both stores are in flight.
        #expect(stack.held(.store).count == 2)
        stack.load(.image(size: 6), by: client)
        stack.finish(.query)
        #expect(stack.held(.query).isEmpty, "the original is here")
        #expect(stack.held(.decode).count == 1)
        stack.finishAll()
        #expect(stack.counters.fetches == 1)
        #expect(stack.isAtRest)
    }

    @Test func afterTheStoreNewcomersAskTheCache() {
        var stack = Stack()
        stack.hireAll()
        let client = stack.connect()
        stack.load(.image(size: 5), by: client)
        stack.finishAll()
        #expect(stack.isAtRest)
        let token = stack.load(.image(size: 6), by: client)
        stack.finish(.query)
        let query = stack.held(.query)[0]
        stack.finish(query, stack.hit(query))
        stack.finishAll()
        #expect(stack.image(token)?.cacheType == .disk)
        #expect(stack.counters.fetches == 1)
        #expect(stack.isAtRest)
    }

    @Test func aMissThatAStoreOvertookIsNotBelieved() {
        var stack = Stack()
        stack.hireAll()
        let client = stack.connect()
        let asking = stack.load(.image(size: 5), by: client)
        stack.finish(.query)
        let original = stack.held(.query)[0]
        // Another load fetches and stores it during that query.
        stack.load(.image("a", size: nil, .fromLoaderOnly), by: client)
        stack.run(.fetch, .decode, .store)
        stack.finish(original, .miss)
        #expect(stack.held(.fetch).isEmpty, "there is no second transfer")
        let again = stack.held(.query)[0]
        stack.finish(again, stack.hit(again))
        stack.finishAll()
        #expect(stack.image(asking)?.cacheType == .disk)
        #expect(stack.counters.fetches == 1)
        #expect(stack.isAtRest)
    }

    @Test func aMissOfAResultThatAStoreOvertookIsNotBelieved() {
        var stack = Stack()
        stack.hireAll()
        let client = stack.connect()
        let asking = stack.load(.image(), by: client)
        let query = stack.held(.query)[0]
        stack.load(.image("a", size: nil, .fromLoaderOnly), by: client)
        stack.run(.fetch, .decode, .store)
        stack.finish(query, .miss)
        let again = stack.held(.query)[0]
        stack.finish(again, stack.hit(again, tier: .memory))
        #expect(stack.image(asking)?.cacheType == .memory)
        #expect(stack.counters.fetches == 1)
        #expect(stack.isAtRest)
    }

    @Test func differentHeadersAreDifferentTransfers() {
        var stack = Stack()
        stack.hireAll()
        let client = stack.connect()
        for value in ["image/png", "image/webp"] {
            let image = ImageRequest.image("a", size: nil, .fromLoaderOnly).with {
                $0.headers = [HTTPHeader(name: "Accept", value: value)]
            }
            stack.load(image, by: client)
        }
        #expect(stack.held(.fetch).count == 2)
        stack.finishAll()
        #expect(stack.isAtRest)
    }

    @Test func anUrgentNewcomerMovesTheSharedJobForward() {
        var stack = Stack()
        let client = stack.connect()
        stack.hire(.cache, credit: 8)
        for name in ["a", "b"] { stack.load(.image(name), by: client) }
        for query in stack.held(.query) { stack.finish(query) }
        let urgent = stack.load(.image("b", size: nil, .highPriority), by: client)
        stack.hire(.download, credit: 1)
        guard case .fetch(let first) = stack.held(.fetch).first?.job.work else {
            Issue.record("something is fetched")
            return
        }
        #expect(first.url == "http://example.org/b.jpg")
        #expect(stack.held(.fetch).first?.job.priority == .high)
        stack.send(.cancel(client, urgent))
        #expect(stack.held(.fetch).first?.priority == .normal, "and its priority with it")
        #expect(stack.faults == [])
    }

    @Test func aSharedJobHasTheLongestDeadlineOfThoseWhoWait() {
        var stack = Stack()
        stack.hireAll()
        let client = stack.connect()
        func load(_ milliseconds: Int) -> Token {
            stack.load(
                ImageRequest.image("a", size: 5, .fromLoaderOnly).with {
                    $0.timeoutMilliseconds = milliseconds
                }, by: client)
        }
        _ = load(2_000)
        #expect(stack.held(.fetch)[0].left == 2_000)
        _ = load(2_900)
        #expect(stack.held(.fetch)[0].left == 2_000, "less than a second is not worth a word")
        let long = load(9_000)
        #expect(stack.held(.fetch)[0].left == 9_000)
        stack.send(.cancel(client, long))
        #expect(stack.held(.fetch)[0].left == 2_900)
        stack.finishAll()
        #expect(stack.isAtRest)
    }

    @Test func aWorkerReportsOnlyWhereSomebodyListens() {
        var stack = Stack()
        stack.hireAll()
        let client = stack.connect()
        func load(_ size: Int, listens: Bool) {
            _ = stack.load(
                .image("a", size: size, .fromLoaderOnly), by: client, wantsProgress: listens)
        }
        load(5, listens: false)
        #expect(!stack.held(.fetch)[0].job.wantsProgress)
        load(6, listens: false)
        #expect(!stack.held(.fetch)[0].wantsProgress)
        load(7, listens: true)
        #expect(stack.held(.fetch)[0].wantsProgress)
        load(8, listens: true)
        #expect(stack.actions.isEmpty, "a worker is asked once")
        stack.kill(stack.held(.fetch)[0].worker)
        stack.hire(.download)
        #expect(stack.held(.fetch)[0].job.wantsProgress, "nor is it forgotten with an attempt")
        stack.finishAll()
        #expect(stack.isAtRest)
    }

    @Test func progressGoesToThoseWhoAskedForIt() {
        var stack = Stack()
        stack.hireAll()
        let client = stack.connect()
        let curious = stack.load(
            .image("a", size: 5, .fromLoaderOnly), by: client, wantsProgress: true)
        let calm = stack.load(.image("a", size: 6, .fromLoaderOnly), by: client)
        let fetch = stack.held(.fetch)[0]
        stack.send(
            .progress(
                fetch.worker,
                JobProgress(id: fetch.job.id, attempt: 1, received: 10, expected: 0)))
        stack.send(
            .progress(
                fetch.worker,
                JobProgress(id: fetch.job.id, attempt: 9, received: 11, expected: 0)))
        #expect(stack.progress[curious]?.map(\.received) == [10])
        #expect(stack.progress[calm] == nil)
        stack.finishAll()
        #expect(stack.isAtRest)
    }
}
