import Model
import Testing

@testable import Coordinator

struct LifeOfARequestTests {
    private var stack = Stack.staffed()

    @Test mutating func aThumbnailGoesThroughAllStagesInTheirOrder() throws {
        let token = stack.load(.image(size: 100))

        #expect(stack.held(.query).count == 1)
        stack.finish(.query)
        let original = try #require(stack.held(.query).first?.job.work.query)
        #expect(original.key == "http://example.org/a.jpg")
        #expect(original.tiers == .disk)
        #expect(original.destination == .staging)
        stack.run(.query, .fetch, .decode)
        // The original is stored while the steps run.
        #expect(stack.held(.store).count == 1)
        stack.finish(.transform)
        #expect(stack.held(.store).count == 2)
        stack.finish(stack.held(.store)[1])

        let image = stack.image(token)
        #expect(image?.reference?.arena == .results)
        #expect(image?.reference?.producer?.kind == .cache)
        #expect(image?.cacheType == CacheTypes.none)
        #expect(image?.storedTiers == nil)
        stack.finishAll()
        #expect(stack.isDone)
    }

    @Test mutating func theOriginalItselfIsDeliveredAndStoredInOneGo() throws {
        let request = ImageRequest.image().with { $0.storeCacheTypes = .memory }
        let token = stack.load(request)
        stack.finish(.query)
        #expect(stack.held(.query).isEmpty, "one key, one query")
        stack.finish(.fetch)
        let decode = try #require(stack.decodes.first)
        #expect(decode.need == .header)
        stack.finish(.decode)
        let store = try #require(stack.stores.first)
        #expect(store.key == "http://example.org/a.jpg")
        #expect(store.tiers == .all, "the tiers of result and original are united")
        #expect(store.delivers)
        #expect(store.metadata.etag == "\"1\"")
        stack.finish(.store)
        #expect(stack.image(token)?.info.size == PixelSize(width: 40, height: 30))
        #expect(stack.isDone)
    }

    @Test mutating func aDiskHitOfTheResultIsTheAnswer() {
        let token = stack.load(.image(size: 100))
        stack.find(tier: .disk)
        #expect(stack.image(token)?.cacheType == .disk)
        #expect(stack.counters.diskHits == 1)
        #expect(stack.isDone)
    }

    @Test mutating func aCachedOriginalIsDecodedAndNotStoredAgain() {
        let token = stack.load(.image(size: 100))
        stack.finish(.query)
        stack.find(tier: .disk)
        #expect(stack.held(.fetch).isEmpty)
        stack.finish(.decode)
        #expect(stack.held(.store).isEmpty, "a disk hit isn't written again")
        #expect(stack.workers[stack.worker(.cache)]?.live.isEmpty == true, "staging is free")
        stack.run(.transform, .store)
        #expect(stack.image(token)?.cacheType == .disk, "the type of the original's hit")
        #expect(stack.counters.originalHits == 1)
        #expect(stack.isDone)
    }

    @Test mutating func factsNeedNoBytesAndAreAnsweredAfterTheHeader() throws {
        let token = stack.load(.image().with { $0.infoOnly = true })
        stack.run(.query, .fetch, .decode)
        #expect(stack.image(token)?.info.format == .jpeg)
        #expect(stack.image(token)?.reference == nil)
        let store = try #require(stack.stores.first)
        #expect(!store.delivers)
        #expect(store.tiers == .all)
        stack.finishAll()
        #expect(stack.isDone)
    }

    @Test mutating func aResultThatNoTierMayKeepIsDeliveredWithoutAKey() throws {
        let request = ImageRequest.image(size: 5).with {
            $0.storeCacheTypes = .none
            $0.originalStoreCacheTypes = .none
        }
        let token = stack.load(request)
        stack.run(.query, .query, .fetch, .decode)
        #expect(stack.held(.store).isEmpty)
        stack.finish(.transform)
        let store = try #require(stack.stores.first)
        #expect(store.key == nil)
        #expect(store.tiers.isEmpty)
        stack.finishAll()
        #expect(stack.image(token) != nil)
        #expect(stack.isDone)
    }

    @Test mutating func aFailedDecodeFailsAndStoresNothing() {
        let token = stack.load(.image(size: 5))
        stack.run(.query, .query, .fetch)
        #expect(stack.held(.store).isEmpty, "it is stored once it is decoded")
        stack.fail(.decode, .badImageData)
        #expect(stack.error(token) == .badImageData)
        #expect(stack.held(.store).isEmpty)
        #expect(stack.isDone)
    }

    @Test mutating func aFailedStepFailsTheRequestWhileTheOriginalIsKept() {
        let token = stack.load(.image(size: 5))
        stack.run(.query, .query, .fetch, .decode)
        stack.fail(.transform, .stepFailed)
        #expect(stack.error(token) == .stepFailed)
        stack.finish(.store)
        #expect(stack.isDone)
    }

    @Test mutating func aFailingCacheIsAMissForAQueryAndAnErrorForADelivery() {
        let token = stack.load(.image())
        stack.fail(.query, .internalError)
        stack.run(.fetch, .decode)
        stack.fail(.store, .internalError)
        #expect(stack.error(token) == .internalError)
        #expect(stack.isDone)
    }

    @Test mutating func timingsSayWhereTheTimeWent() {
        stack = Stack(.cache, .download, .decode)
        let token = stack.load(.image(size: 5))
        for _ in 0..<2 {
            let query = stack.held(.query)[0]
            stack.wait(milliseconds: 5)
            stack.finish(query, .miss, microseconds: 2_000)
        }
        let fetch = stack.held(.fetch)[0]
        stack.finish(fetch, stack.success(fetch), microseconds: 70_000)
        let decode = stack.held(.decode)[0]
        stack.finish(decode, stack.success(decode), microseconds: 9_500)
        stack.wait(milliseconds: 30)
        stack.hire(.transform)
        stack.wait(milliseconds: 20)
        let transform = stack.held(.transform)[0]
        stack.finish(transform, stack.success(transform), microseconds: 4_000)
        stack.finishFirst(.store)
        let delivery = stack.held(.store)[0]
        stack.finish(delivery, stack.success(delivery), microseconds: 250)
        let timings = stack.reply(token)?.timings
        #expect(timings?.query == 4)
        #expect(timings?.fetch == 70)
        #expect(timings?.decode == 9.5)
        #expect(timings?.transform == 4)
        #expect(timings?.store == 0.25)
        #expect(timings?.queue == 30)
        #expect(timings?.total == 60)
        #expect(stack.faults == [])
    }
}
