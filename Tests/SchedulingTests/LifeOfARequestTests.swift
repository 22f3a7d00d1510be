import Model
import Testing

@testable import Coordinator

struct LifeOfARequestTests {
    @Test func aThumbnailGoesThroughAllStagesInTheirOrder() {
        var stack = Stack()
        stack.hireAll()
        let client = stack.connect()
        let token = stack.load(.image(size: 100), by: client)

        #expect(stack.held(.query).count == 1)
        stack.finish(.query)
        guard case .query(let original) = stack.held(.query).first?.job.work else {
            Issue.record("the original is queried after the result")
            return
        }
        #expect(original.key == "http://example.org/a.jpg")
        #expect(original.tiers == .disk)
        #expect(original.destination == .staging)
        stack.finish(.query)
        stack.finish(.fetch)
        stack.finish(.decode)
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
        #expect(stack.scheduler.isIdle)
        #expect(stack.faults == [])
    }

    @Test func theOriginalItselfIsDeliveredAndStoredInOneGo() {
        var stack = Stack()
        stack.hireAll()
        let client = stack.connect()
        let request = ImageRequest.image().with { $0.storeCacheTypes = .memory }
        let token = stack.load(request, by: client)
        stack.finish(.query)
        #expect(stack.held(.query).isEmpty, "one key, one query")
        stack.finish(.fetch)
        guard case .decode(let decode) = stack.held(.decode).first?.job.work else {
            Issue.record("the header is read")
            return
        }
        #expect(decode.need == .header)
        stack.finish(.decode)
        guard case .store(let store) = stack.held(.store).first?.job.work else {
            Issue.record("the body is delivered")
            return
        }
        #expect(store.key == "http://example.org/a.jpg")
        #expect(store.tiers == .all, "the tiers of result and original are united")
        #expect(store.delivers)
        #expect(store.metadata.etag == "\"1\"")
        stack.finish(.store)
        #expect(stack.image(token)?.info.size == PixelSize(width: 40, height: 30))
        #expect(stack.scheduler.isIdle)
        #expect(stack.faults == [])
    }

    @Test func aDiskHitOfTheResultIsTheAnswer() {
        var stack = Stack()
        stack.hireAll()
        let client = stack.connect()
        let token = stack.load(.image(size: 100), by: client)
        let query = stack.held(.query)[0]
        stack.finish(query, stack.hit(query, tier: .disk))
        #expect(stack.image(token)?.cacheType == .disk)
        #expect(stack.counters.diskHits == 1)
        #expect(stack.scheduler.isIdle)
        #expect(stack.faults == [])
    }

    @Test func aCachedOriginalIsDecodedAndNotStoredAgain() {
        var stack = Stack()
        stack.hireAll()
        let client = stack.connect()
        let token = stack.load(.image(size: 100), by: client)
        stack.finish(.query)
        let query = stack.held(.query)[0]
        stack.finish(query, stack.hit(query, tier: .disk))
        #expect(stack.held(.fetch).isEmpty)
        stack.finish(.decode)
        #expect(stack.held(.store).isEmpty, "a disk hit isn't written again")
        #expect(stack.workers[stack.worker(.cache)]?.live.isEmpty == true, "staging is free")
        stack.finish(.transform)
        stack.finish(.store)
        #expect(stack.image(token)?.cacheType == .disk, "the type of the original's hit")
        #expect(stack.counters.originalHits == 1)
        #expect(stack.scheduler.isIdle)
        #expect(stack.faults == [])
    }

    @Test func aCachedOriginalThatIsNoImageIsFetchedAnew() {
        var stack = Stack()
        stack.hireAll()
        let client = stack.connect()
        let token = stack.load(.image(size: 100), by: client)
        stack.finish(.query)
        let query = stack.held(.query)[0]
        stack.finish(query, stack.hit(query))
        stack.fail(.decode, .badImageData)
        #expect(stack.held(.fetch).count == 1)
        stack.finishAll()
        #expect(stack.image(token) != nil)
        #expect(stack.scheduler.isIdle)
        #expect(stack.faults == [])
    }

    @Test func factsNeedNoBytesAndAreAnsweredAfterTheHeader() {
        var stack = Stack()
        stack.hireAll()
        let client = stack.connect()
        let token = stack.load(.image().with { $0.infoOnly = true }, by: client)
        stack.finish(.query)
        stack.finish(.fetch)
        stack.finish(.decode)
        #expect(stack.image(token)?.info.format == .jpeg)
        #expect(stack.image(token)?.reference == nil)
        guard case .store(let store) = stack.held(.store).first?.job.work else {
            Issue.record("the original is kept")
            return
        }
        #expect(!store.delivers)
        #expect(store.tiers == .all)
        stack.finishAll()
        #expect(stack.scheduler.isIdle)
        #expect(stack.faults == [])
    }

    @Test func aResultThatNoTierMayKeepIsDeliveredWithoutAKey() {
        var stack = Stack()
        stack.hireAll()
        let client = stack.connect()
        let request = ImageRequest.image(size: 5).with {
            $0.storeCacheTypes = .none
            $0.originalStoreCacheTypes = .none
        }
        let token = stack.load(request, by: client)
        stack.finish(.query)
        stack.finish(.query)
        stack.finish(.fetch)
        stack.finish(.decode)
        #expect(stack.held(.store).isEmpty)
        stack.finish(.transform)
        guard case .store(let store) = stack.held(.store).first?.job.work else {
            Issue.record("the result is delivered")
            return
        }
        #expect(store.key == nil)
        #expect(store.tiers.isEmpty)
        stack.finishAll()
        #expect(stack.image(token) != nil)
        #expect(stack.scheduler.isIdle)
        #expect(stack.faults == [])
    }

    @Test func aFailedDecodeFailsAndStoresNothing() {
        var stack = Stack()
        stack.hireAll()
        let client = stack.connect()
        let token = stack.load(.image(size: 5), by: client)
        stack.finish(.query)
        stack.finish(.query)
        stack.finish(.fetch)
        stack.fail(.decode, .badImageData)
        #expect(stack.error(token) == .badImageData)
        #expect(stack.held(.store).isEmpty)
        #expect(stack.scheduler.isIdle)
        #expect(stack.faults == [])
    }

    @Test func aFailedStepFailsTheRequestWhileTheOriginalIsKept() {
        var stack = Stack()
        stack.hireAll()
        let client = stack.connect()
        let token = stack.load(.image(size: 5), by: client)
        stack.finish(.query)
        stack.finish(.query)
        stack.finish(.fetch)
        stack.finish(.decode)
        stack.fail(.transform, .stepFailed)
        #expect(stack.error(token) == .stepFailed)
        stack.finish(.store)
        #expect(stack.scheduler.isIdle)
        #expect(stack.faults == [])
    }

    @Test func aFailingCacheIsAMissForAQueryAndAnErrorForADelivery() {
        var stack = Stack()
        stack.hireAll()
        let client = stack.connect()
        let token = stack.load(.image(), by: client)
        stack.fail(.query, .internalError)
        stack.finish(.fetch)
        stack.finish(.decode)
        stack.fail(.store, .internalError)
        #expect(stack.error(token) == .internalError)
        #expect(stack.scheduler.isIdle)
        #expect(stack.faults == [])
    }

    @Test func timingsSayWhereTheTimeWent() {
        var stack = Stack()
        stack.hire(.cache)
        stack.hire(.download)
        stack.hire(.decode)
        let client = stack.connect()
        let token = stack.load(.image(size: 5), by: client)
        for _ in 0..<2 {
            let query = stack.held(.query)[0]
            stack.now = stack.now.adding(milliseconds: 5)
            stack.finish(query, .miss, microseconds: 2_000)
        }
        let fetch = stack.held(.fetch)[0]
        stack.finish(fetch, stack.success(fetch), microseconds: 70_000)
        let decode = stack.held(.decode)[0]
        stack.finish(decode, stack.success(decode), microseconds: 9_500)
        stack.now = stack.now.adding(milliseconds: 30)
        stack.hire(.transform)
        stack.now = stack.now.adding(milliseconds: 20)
        let transform = stack.held(.transform)[0]
        stack.finish(transform, stack.success(transform), microseconds: 4_000)
        stack.finish(stack.held(.store)[0])
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
