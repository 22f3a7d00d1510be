import Model
import Testing

@testable import Coordinator

struct ResultBlockTests {
    private let key = "http://example.org/a.jpg"
    private let large: UInt64 = 1 << 20

    @Test func aLargeBlockThatIsReadGoesBackAfterItsLastReader() {
        var stack = Stack()
        stack.hireAll()
        let (first, second) = (stack.connect(), stack.connect())
        let block = stack.publish(key, length: large).block
        stack.load(.image(), by: first)
        stack.load(.image(), by: first)
        stack.load(.image(), by: second)
        stack.evict(block)
        #expect(stack.actions == [])
        stack.release(0, by: first)
        stack.release(0, by: second)
        #expect(stack.actions == [], "one delivery is still being read")
        stack.release(0, by: first)
        #expect(stack.actions == [.release(stack.worker(.cache), [block], isPrompt: true)])
        stack.send(.clientReleased(first, [block]))
        #expect(stack.actions == [], "a second release of an id is ignored")
        #expect(stack.isAtRest)
    }

    @Test func aLargeBlockThatNobodyReadsGoesBackAtOnce() {
        var stack = Stack()
        stack.hireAll()
        let block = stack.publish(key, length: large).block
        stack.evict(block)
        #expect(stack.actions == [.release(stack.worker(.cache), [block], isPrompt: true)])
    }

    @Test func ofASmallBlockTheCacheIsNotTold() {
        var stack = Stack()
        stack.hireAll()
        let client = stack.connect()
        let block = stack.publish(key, length: large - 1).block
        stack.load(.image(), by: client)
        stack.evict(block)
        #expect(stack.actions == [])
        stack.send(.clientReleased(client, [block]))
        #expect(stack.actions == [])
    }

    @Test func aClientThatLeavesLetsGoOfEverything() {
        var stack = Stack()
        stack.hireAll()
        let client = stack.connect()
        let block = stack.publish(key, length: large).block
        stack.load(.image(), by: client)
        stack.load(.image(), by: client)
        stack.evict(block)
        stack.disconnect(client)
        #expect(stack.actions == [.release(stack.worker(.cache), [block], isPrompt: true)])
        #expect(!stack.scheduler.hits.blocks.hasDeliveries)
    }

    @Test func aDeliveryWithoutAKeyFollowsTheSameRule() {
        var stack = Stack()
        stack.hireAll()
        let client = stack.connect()
        let image = ImageRequest.image("a", size: 5, .fromLoaderOnly).with {
            $0.storeCacheTypes = .none
            $0.originalStoreCacheTypes = .none
        }
        let token = stack.load(image, by: client)
        stack.run(.fetch, .decode)
        let transform = stack.held(.transform)[0]
        stack.finish(transform, stack.success(transform, length: large))
        stack.finish(.store)
        guard let block = stack.image(token)?.reference?.block else {
            Issue.record("it is delivered")
            return
        }
        stack.evict(block)
        #expect(stack.actions == [])
        stack.release(0, by: client)
        #expect(stack.actions == [.release(stack.worker(.cache), [block], isPrompt: true)])
        #expect(stack.isAtRest)
    }

    @Test func aReplyThatWaitsForAStoreKeepsItsLargeBlock() {
        var stack = Stack()
        stack.hireAll()
        let client = stack.connect()
        let token = stack.load(
            .image("a", size: 5, [.fromLoaderOnly, .waitStoreCache]), by: client)
        stack.run(.fetch, .decode)
        let transform = stack.held(.transform)[0]
        stack.finish(transform, stack.success(transform, length: large))
        stack.finish(stack.held(.store)[1])
        #expect(stack.reply(token) == nil)
        let cache = stack.worker(.cache)
        let blocks = stack.workers[cache]?.large.keys.map { $0 } ?? []
        #expect(blocks.count == 1)
        for block in blocks { stack.evict(block) }
        #expect(stack.actions == [])
        stack.send(.cancel(client, token))
        #expect(stack.actions.contains(.release(cache, blocks, isPrompt: true)))
        stack.finishAll()
        #expect(stack.isAtRest)
    }

    /// The worker that encoded the result is lost while the cache delivers it, so that it is
    /// produced again. The cache still has the first delivery.
    @Test func aDeliveryThatNobodyWantsAnyMoreGoesBackWhenItIsEvicted() {
        var stack = Stack()
        stack.hireAll()
        let client = stack.connect()
        let image = ImageRequest.image("a", size: 5, .fromLoaderOnly).with {
            $0.storeCacheTypes = .none
            $0.originalStoreCacheTypes = .none
        }
        let token = stack.load(image, by: client)
        stack.run(.fetch, .decode)
        let transform = stack.held(.transform)[0]
        stack.finish(transform, stack.success(transform, length: large))
        let delivery = stack.held(.store)[0]
        let result = stack.success(delivery)
        guard case .stored(let report) = result, let block = report.delivered?.block else {
            Issue.record("it is delivered")
            return
        }
        stack.kill(transform.worker)
        #expect(stack.actions.contains(.cancelJob(delivery.worker, delivery.job.id)))
        stack.finish(delivery, result)
        #expect(stack.reply(token) == nil)
        stack.evict(block)
        #expect(stack.actions.contains(.release(delivery.worker, [block], isPrompt: true)))
        stack.hire(.transform)
        stack.finishAll()
        #expect(stack.image(token) != nil)
        #expect(stack.isAtRest, "\(stack)")
    }

    /// Releases name no session: block 1 of a cache that died and block 1 of the running one look
    /// the same, and the latter must not be freed too early.
    @Test func aReleaseCountsForTheOlderCacheFirst() {
        var stack = Stack()
        stack.hireAll()
        let client = stack.connect()
        stack.publish(key, length: large)
        stack.load(.image(), by: client)
        stack.kill(stack.worker(.cache))
        let cache = stack.hire(.cache, credit: 4)
        let block = stack.publish(key, length: large).block
        stack.load(.image(), by: client)
        stack.evict(block)
        stack.release(0, by: client)
        #expect(stack.actions == [])
        stack.release(0, by: client)
        #expect(stack.actions == [.release(cache, [block], isPrompt: true)])
        #expect(stack.isAtRest)
    }
}
