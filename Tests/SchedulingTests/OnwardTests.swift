import Model
import Testing

@testable import Coordinator

/// Requests waiting for a cached original that the cache doesn't have.
struct OnwardTests {
    private func asking(
        _ images: [ImageRequest]
    ) -> (stack: Stack, tokens: [Token], client: ClientID) {
        var stack = Stack()
        stack.hireAll(credit: 10)
        let client = stack.connect()
        let tokens = images.map { stack.load($0, by: client) }
        for query in stack.held(.query) { stack.finish(query) }
        return (stack, tokens, client)
    }

    @Test func nodesThatWaitForTheCacheGoOnToTheOrigin() {
        var (stack, tokens, _) = asking([.image(size: 5), .image(size: 6)])
        let workGraph = stack.scheduler.workGraph
        stack.run(.query)
        #expect(stack.held(.fetch).count == 1)
        #expect(stack.scheduler.workGraph.results.ids == workGraph.results.ids)
        #expect(stack.scheduler.workGraph.decodes.ids == workGraph.decodes.ids)
        #expect(stack.scheduler.workGraph.sources.ids == workGraph.sources.ids)
        #expect(stack.counters.misses == 2)
        stack.finishAll()
        #expect(tokens.allSatisfy { stack.image($0)?.cacheType == CacheTypes.none })
        #expect(stack.isAtRest)
    }

    @Test func whoMayNotFetchDoesNotWaitForTheOrigin() {
        var (stack, tokens, _) = asking([.image(size: 5), .image(size: 5, .fromCacheOnly)])
        stack.run(.query)
        guard case .miss = stack.reply(tokens[1])?.outcome else {
            Issue.record("the cache does not have it")
            return
        }
        #expect(stack.held(.fetch).count == 1)
        stack.finishAll()
        #expect(stack.image(tokens[0]) != nil)
        #expect(stack.isAtRest)
    }

    @Test func aTransferThatIsUnderWayIsJoined() {
        var (stack, tokens, client) = asking([.image(size: 5)])
        let other = stack.load(.image(size: 6, .fromLoaderOnly), by: client)
        #expect(stack.held(.fetch).count == 1)
        stack.run(.query)
        #expect(stack.held(.fetch).count == 1)
        stack.finishAll()
        #expect(stack.image(tokens[0]) != nil && stack.image(other) != nil)
        #expect(stack.counters.fetches == 1)
        #expect(stack.isAtRest)
    }

    @Test func whoWouldBeginTooMuchIsRefused() {
        var stack = Stack { $0.dispatch.queuedCostMax.fetch = 1 }
        stack.hire(.cache)
        let client = stack.connect()
        let token = stack.load(.image(size: 5), by: client)
        stack.run(.query)
        let earlier = stack.load(.image("b", size: 5, .fromLoaderOnly), by: client)
        stack.run(.query)
        #expect(stack.error(token) == .busy)
        #expect(stack.reply(earlier) == nil)
        #expect(stack.counters.refused[.fetch] == 1)
    }
}
