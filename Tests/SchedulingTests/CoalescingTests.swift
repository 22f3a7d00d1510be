import Model
import Testing

@testable import Coordinator

struct CoalescingTests {
    private var stack = Stack.staffed()

    @Test mutating func aThousandRequestsForOneURLAreOneQueryOneFetchAndOneDecode() {
        let tokens = (0..<1_000).map { _ in stack.load(.image(size: 5)) }
        #expect(stack.counters.coalesced.requests == 999)
        stack.run(.query, .query, .fetch, .decode, .transform)
        stack.end(tokens, fetches: 1)
        #expect(stack.counters.decodes == 1)
        #expect(stack.counters.transforms == 1)
    }

    @Test mutating func tenSizesOfOneURLAreOneTransfer() {
        stack = Stack.staffed(credit: 10)
        let tokens = (1...10).map { stack.load(.image(size: $0)) }
        #expect(stack.held(.query).count == 10)
        stack.finishEach(.query)
        #expect(stack.held(.query).count == 1, "one query of the original for all")
        stack.run(.query, .fetch)
        #expect(stack.held(.decode).count == 10)
        stack.end(tokens, fetches: 1)
    }

    @Test mutating func twoFormatsOfOneSizeShareTheirPixels() {
        stack.load(.image(size: 5))
        stack.load(.image(size: 5).with { $0.output.format = .webp })
        stack.finishEach(.query)
        stack.run(.query, .fetch, .decode)
        #expect(stack.held(.transform).count == 2)
        stack.end()
        #expect(stack.counters.decodes == 1)
    }

    @Test mutating func whoComesWhileThePixelsAreUsedTakesThem() {
        stack.load(.image(size: 5))
        stack.run(.query, .query, .fetch, .decode, .store)
        let late = stack.load(.image(size: 5).with { $0.output.format = .webp })
        stack.run(.query, .query)
        #expect(stack.held(.fetch).isEmpty)
        stack.end(late)
        #expect(stack.counters.decodes == 1)
    }

    @Test mutating func whoMayNotFetchNeverWaitsForAFetch() {
        stack.load(.image(size: 5))
        stack.run(.query, .query)
        let modest = stack.load(.image("a", size: 5, .fromCacheOnly))
        stack.run(.query, .query)
        #expect(stack.isMiss(modest))
        stack.end()
    }

    @Test mutating func whoWantsTheLoaderJoinsAFetchAndNoQuery() {
        let plain = stack.load(.image())
        let strict = stack.load(.loader())
        #expect(stack.held(.fetch).count == 1)
        stack.find(tier: .memory)
        #expect(stack.image(plain)?.cacheType == .memory)
        #expect(stack.reply(strict) == nil, "a hit isn't for loads that skip the caches")
        let second = stack.load(.loader())
        stack.run(.fetch, .decode, .store)
        #expect(stack.image(strict)?.cacheType == CacheTypes.none)
        #expect(stack.image(second) != nil)
        #expect(stack.counters.fetches == 1)
        #expect(stack.isAtRest)
    }

    @Test mutating func whoAsksTheCacheDoesNotWaitForAFetchOfSomebodyWhoDidNot() {
        stack.load(.loader())
        let plain = stack.load(.image())
        stack.find()
        #expect(stack.image(plain)?.cacheType == .disk)
        stack.end()
    }

    @Test mutating func tiersOfThoseWhoShareAreUnited() throws {
        for tiers in [CacheTypes.memory, .disk] {
            let image = ImageRequest.loader(size: 5).with {
                $0.storeCacheTypes = tiers
                $0.originalStoreCacheTypes = tiers == .disk ? .none : .memory
            }
            stack.load(image)
        }
        stack.run(.fetch, .decode)
        let original = try #require(stack.stores.first)
        #expect(original.tiers == .memory)
        stack.run(.store, .transform)
        let result = try #require(stack.stores.first)
        #expect(result.tiers == .all)
        stack.end()
    }

    @Test mutating func whoComesDuringTheDeliveryAndWantsMoreIsServedByAnotherRound() throws {
        func image(_ tiers: CacheTypes) -> ImageRequest {
            ImageRequest.loader(size: 5).with {
                $0.storeCacheTypes = tiers
                $0.originalStoreCacheTypes = .none
            }
        }
        let first = stack.load(image(.memory))
        stack.run(.fetch, .decode, .transform)
        let same = stack.load(image(.memory))
        let more = stack.load(image(.all))
        stack.finish(.store)
        #expect(stack.image(first) != nil)
        #expect(stack.image(same) != nil)
        #expect(stack.reply(more) == nil)
        let again = try #require(stack.stores.first)
        #expect(again.tiers == .all)
        stack.end(more, fetches: 1)
    }

    @Test mutating func whoComesWhileTheOriginalIsBeingStoredUsesTheBytesThatAreThere() {
        stack.load(.image(size: 5))
        stack.run(.query, .query, .fetch, .decode, .transform)
        // Both stores are in flight.
        #expect(stack.held(.store).count == 2)
        stack.load(.image(size: 6))
        stack.finish(.query)
        #expect(stack.held(.query).isEmpty, "the original is here")
        #expect(stack.held(.decode).count == 1)
        stack.end(fetches: 1)
    }

    @Test mutating func afterTheStoreNewcomersAskTheCache() {
        stack.load(.image(size: 5))
        stack.end()
        let token = stack.load(.image(size: 6))
        stack.finish(.query)
        stack.find()
        stack.end(token, from: .disk, fetches: 1)
    }

    @Test mutating func aMissThatAStoreOvertookIsNotBelieved() {
        let asking = stack.load(.image(size: 5))
        stack.finish(.query)
        let original = stack.held(.query)[0]
        // Another load fetches and stores it during that query.
        stack.load(.loader())
        stack.run(.fetch, .decode, .store)
        stack.finish(original, .miss)
        #expect(stack.held(.fetch).isEmpty, "there is no second transfer")
        stack.find()
        stack.end(asking, from: .disk, fetches: 1)
    }

    @Test mutating func aMissOfAResultThatAStoreOvertookIsNotBelieved() {
        let asking = stack.load(.image())
        let query = stack.held(.query)[0]
        stack.load(.loader())
        stack.run(.fetch, .decode, .store)
        stack.finish(query, .miss)
        stack.find(tier: .memory)
        #expect(stack.image(asking)?.cacheType == .memory)
        #expect(stack.counters.fetches == 1)
        #expect(stack.isAtRest)
    }

    @Test mutating func differentHeadersAreDifferentTransfers() {
        for value in ["image/png", "image/webp"] {
            let image = ImageRequest.loader().with {
                $0.headers = [HTTPHeader(name: "Accept", value: value)]
            }
            stack.load(image)
        }
        #expect(stack.held(.fetch).count == 2)
        stack.end()
    }

    @Test mutating func anUrgentNewcomerMovesTheSharedJobForward() throws {
        stack = Stack(.cache, credit: 8)
        for name in ["a", "b"] { stack.load(.image(name)) }
        stack.finishEach(.query)
        let urgent = stack.load(.image("b", size: nil, .highPriority))
        stack.hire(.download, credit: 1)
        let first = try #require(stack.fetches.first)
        #expect(first.url == "http://example.org/b.jpg")
        #expect(stack.held(.fetch).first?.job.priority == .high)
        stack.cancel(urgent)
        #expect(stack.held(.fetch).first?.priority == .normal, "and its priority with it")
        #expect(stack.faults == [])
    }

    @Test mutating func aSharedJobHasTheLongestDeadlineOfThoseWhoWait() {
        func load(_ milliseconds: Int) -> Token {
            stack.load(ImageRequest.loader(size: 5).within(milliseconds: milliseconds))
        }
        _ = load(2_000)
        #expect(stack.held(.fetch)[0].left == 2_000)
        _ = load(2_900)
        #expect(stack.held(.fetch)[0].left == 2_000, "less than a second is not worth a word")
        let long = load(9_000)
        #expect(stack.held(.fetch)[0].left == 9_000)
        stack.cancel(long)
        #expect(stack.held(.fetch)[0].left == 2_900)
        stack.end()
    }

    @Test mutating func aWorkerReportsOnlyWhereSomebodyListens() {
        func load(_ size: Int, listens: Bool) {
            _ = stack.load(.loader(size: size), wantsProgress: listens)
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
        stack.end()
    }

    @Test mutating func progressGoesToThoseWhoAskedForIt() {
        let curious = stack.load(.loader(size: 5), wantsProgress: true)
        let calm = stack.load(.loader(size: 6))
        let fetch = stack.held(.fetch)[0]
        stack.progress(fetch, 10)
        stack.progress(fetch, attempt: 9, 11)
        #expect(stack.progress[curious]?.map(\.received) == [10])
        #expect(stack.progress[calm] == nil)
        stack.end()
    }
}

/// Requests waiting for a cached original that the cache doesn't have.
struct OnwardTests {
    private var stack = Stack.staffed()

    private mutating func asking(_ images: [ImageRequest]) -> [Token] {
        stack = Stack.staffed(credit: 10)
        let tokens = images.map { stack.load($0) }
        stack.finishEach(.query)
        return tokens
    }

    @Test mutating func nodesThatWaitForTheCacheGoOnToTheOrigin() {
        let tokens = asking([.image(size: 5), .image(size: 6)])
        let workGraph = stack.scheduler.workGraph
        stack.run(.query)
        #expect(stack.held(.fetch).count == 1)
        #expect(stack.scheduler.workGraph.results.ids == workGraph.results.ids)
        #expect(stack.scheduler.workGraph.decodes.ids == workGraph.decodes.ids)
        #expect(stack.scheduler.workGraph.sources.ids == workGraph.sources.ids)
        #expect(stack.counters.misses == 2)
        stack.end()
        #expect(tokens.allSatisfy { stack.image($0)?.cacheType == CacheTypes.none })
    }

    @Test mutating func whoMayNotFetchDoesNotWaitForTheOrigin() {
        let tokens = asking([.image(size: 5), .image(size: 5, .fromCacheOnly)])
        stack.run(.query)
        #expect(stack.isMiss(tokens[1]))
        #expect(stack.held(.fetch).count == 1)
        stack.end()
        #expect(stack.image(tokens[0]) != nil)
    }

    @Test mutating func aTransferThatIsUnderWayIsJoined() {
        let tokens = asking([.image(size: 5)])
        let other = stack.load(.loader(size: 6))
        #expect(stack.held(.fetch).count == 1)
        stack.run(.query)
        #expect(stack.held(.fetch).count == 1)
        stack.end(fetches: 1)
        #expect(stack.image(tokens[0]) != nil && stack.image(other) != nil)
    }

    @Test mutating func whoWouldBeginTooMuchIsRefused() {
        stack = Stack(.cache) { $0.dispatch.queuedCostMax.fetch = 1 }
        let token = stack.load(.image(size: 5))
        stack.run(.query)
        let earlier = stack.load(.loader("b", size: 5))
        stack.run(.query)
        #expect(stack.error(token) == .busy)
        #expect(stack.reply(earlier) == nil)
        #expect(stack.counters.refused[.fetch] == 1)
    }
}
