import Model
import Testing

@testable import Coordinator

struct MemoryHitTests {
    private let key = "http://example.org/a.jpg"

    @Test func aHitIsAnsweredInTheSameEventWithoutAnyJob() {
        var stack = Stack()
        stack.hireAll()
        let client = stack.connect()
        let reference = stack.publish(key)
        let token = stack.load(.image(), by: client)
        #expect(stack.actions.count == 2, "a reply, and its record")
        #expect(stack.image(token)?.cacheType == .memory)
        #expect(stack.image(token)?.reference?.block == reference.block)
        #expect(stack.image(token)?.reference?.producer?.kind == .cache)
        #expect(stack.image(token)?.key == key)
        #expect(stack.counters.memoryHits == 1)
        #expect(stack.isAtRest)
    }

    @Test func factsOfAHitComeWithoutBytes() {
        var stack = Stack()
        stack.hireAll()
        let client = stack.connect()
        stack.publish(key)
        let token = stack.load(.image().with { $0.infoOnly = true }, by: client)
        #expect(stack.image(token)?.info.format == .png)
        #expect(stack.image(token)?.reference == nil)
        #expect(stack.isAtRest)
    }

    @Test func useIsToldToTheCacheInBatches() {
        var stack = Stack()
        stack.hireAll()
        let client = stack.connect()
        let count = MessageLimits.idsMax
        let blocks = (0..<count).map { stack.publish("http://example.org/\($0).jpg").block }
        for number in 0..<(count - 1) { stack.load(.image("\(number)"), by: client) }
        #expect(stack.touched == [])
        stack.load(.image("\(count - 1)"), by: client)
        #expect(stack.touched == blocks)
    }

    @Test func aBlockThatIsUsedAgainAndAgainIsToldOnce() {
        var stack = Stack { $0.touchedMax = 2 }
        stack.hireAll()
        let client = stack.connect()
        let blocks = ["a", "b"].map { stack.publish("http://example.org/\($0).jpg").block }
        for _ in 0..<100 { stack.load(.image("a"), by: client) }
        #expect(stack.touched == [])
        stack.load(.image("b"), by: client)
        #expect(stack.touched == blocks)
        stack.load(.image("a"), by: client)
        stack.pass(milliseconds: 100)
        #expect(stack.touched == blocks + [blocks[0]], "the next batch has it again")
    }

    @Test func useIsToldAfterATenthOfASecond() {
        var stack = Stack()
        stack.hireAll()
        let client = stack.connect()
        let reference = stack.publish(key)
        stack.load(.image(), by: client)
        #expect(stack.scheduler.nextDeadline == stack.now.adding(milliseconds: 100))
        stack.pass(milliseconds: 99)
        #expect(stack.touched == [])
        stack.pass(milliseconds: 1)
        #expect(stack.touched == [reference.block])
        #expect(stack.scheduler.nextDeadline == nil)
    }

    @Test func anEntryThatExpiredIsNoHit() {
        var stack = Stack()
        stack.hireAll()
        let client = stack.connect()
        stack.publish(key, expiresInMilliseconds: 50)
        stack.now = stack.now.adding(milliseconds: 49)
        let early = stack.load(.image(), by: client)
        #expect(stack.image(early) != nil)
        stack.now = stack.now.adding(milliseconds: 1)
        let late = stack.load(.image(), by: client)
        #expect(stack.reply(late) == nil)
    }

    @Test func anEvictedBlockIsNoHitAndAStoredOneReplacesAnother() {
        var stack = Stack()
        stack.hireAll()
        let client = stack.connect()
        let old = stack.publish(key)
        let new = stack.publish(key)
        stack.evict(old.block)
        let hit = stack.load(.image(), by: client)
        #expect(stack.image(hit)?.reference?.block == new.block)
        stack.evict(new.block)
        let miss = stack.load(.image(), by: client)
        #expect(stack.reply(miss) == nil)
    }

    @Test(arguments: [
        ImageRequest.image("a", size: nil, .fromLoaderOnly),
        ImageRequest.image().with { $0.queryCacheTypes = .disk },
        ImageRequest.image().with { $0.queryCacheTypes = .none },
        // Extended data is not in the index, and an animation is checked before its delivery.
        ImageRequest.image().with { $0.context.wantsExtendedData = true },
        ImageRequest.image("a", size: nil, .matchAnimatedImageClass),
    ])
    func whoMayNotAskMemoryGetsNoHit(image: ImageRequest) {
        var stack = Stack()
        stack.hireAll()
        let client = stack.connect()
        stack.publish(key)
        let token = stack.load(image, by: client)
        #expect(stack.reply(token) == nil)
    }

    @Test func aStaleCopyInMemoryIsNotTrustedAgain() {
        var stack = Stack()
        stack.hireAll()
        let client = stack.connect()
        stack.publish(key)
        let token = stack.load(.image(), by: client, staleRetries: 1)
        #expect(stack.reply(token) == nil)
        guard case .query(let query) = stack.held(.query).first?.job.work else {
            Issue.record("the disk is asked")
            return
        }
        #expect(query.tiers == .disk)
    }

    @Test func theOldestEntryMakesRoom() {
        var stack = Stack { $0.hitsMax = 2 }
        stack.hireAll()
        let client = stack.connect()
        for name in ["a", "b", "c"] { stack.publish("http://example.org/\(name).jpg") }
        #expect(stack.scheduler.report["indexedHits"] == 2)
        let first = stack.load(.image("a"), by: client)
        #expect(stack.reply(first) == nil)
        let second = stack.load(.image("b"), by: client)
        #expect(stack.image(second) != nil)
        let third = stack.load(.image("c"), by: client)
        #expect(stack.image(third) != nil)
    }

    @Test func aMissUnderFromCacheOnlyIsNoError() {
        var stack = Stack()
        stack.hireAll()
        let client = stack.connect()
        let token = stack.load(.image("a", size: 5, .fromCacheOnly), by: client)
        stack.run(.query, .query)
        #expect(stack.isMiss(token))
        #expect(stack.counters.misses == 1)
        #expect(stack.isAtRest)
    }

    @Test func theIndexGoesWithTheCache() {
        var stack = Stack()
        stack.hireAll()
        let client = stack.connect()
        stack.publish(key)
        stack.kill(stack.worker(.cache))
        stack.hire(.cache)
        #expect(stack.scheduler.report["indexedHits"] == 0)
        let token = stack.load(.image(), by: client)
        #expect(stack.reply(token) == nil)
    }

    @Test func onlyTheCachePublishes() {
        var stack = Stack()
        stack.hireAll()
        let decoder = stack.worker(.decode)
        let reference = stack.block(of: decoder)
        let info = ImageInfo(format: .png, size: PixelSize(width: 1, height: 1))
        stack.send(
            .stored(
                decoder,
                StoredNotice(
                    key: key, reference: reference, info: info, expiresInMilliseconds: nil)))
        #expect(stack.expelled.map(\.0) == [decoder])
        let other = stack.worker(.transform)
        stack.send(.evicted(other, [BlockID(1)]))
        #expect(stack.expelled.map(\.0) == [decoder, other])
    }
}
