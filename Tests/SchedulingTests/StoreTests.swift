import Model
import Testing

@testable import Coordinator

struct StoreTests {
    private let waiting = ImageRequest.image(
        "a", size: 5, [.fromLoaderOnly, .waitStoreCache])

    @Test func waitStoreCacheWaitsForBothStoresAndSaysWhichTiersHaveIt() {
        var stack = Stack()
        stack.hireAll()
        let client = stack.connect()
        let token = stack.load(waiting, by: client)
        let hasty = stack.load(.image("a", size: 5, .fromLoaderOnly), by: client)
        stack.run(.fetch, .decode, .transform)
        let stores = stack.held(.store)
        for store in stores {
            guard case .store(let work) = store.job.work else { continue }
            #expect(work.waitsForDisk)
        }
        stack.finish(stores[1])
        #expect(stack.image(hasty) != nil)
        #expect(stack.image(hasty)?.storedTiers == nil)
        #expect(stack.reply(token) == nil)
        stack.finish(stores[0])
        #expect(stack.image(token)?.storedTiers == .all)
        #expect(stack.isAtRest)
    }

    @Test func theOtherOrderWaitsAsWell() {
        var stack = Stack()
        stack.hireAll()
        let client = stack.connect()
        let token = stack.load(waiting, by: client)
        stack.run(.fetch, .decode, .transform)
        stack.finish(stack.held(.store)[0])
        #expect(stack.reply(token) == nil)
        stack.finish(.store)
        #expect(stack.image(token) != nil)
        #expect(stack.isAtRest)
    }

    @Test func anOriginalThatCouldNotBeStoredKeepsNobodyWaiting() {
        var stack = Stack()
        stack.hireAll()
        let client = stack.connect()
        let token = stack.load(waiting, by: client)
        stack.run(.fetch, .decode, .transform)
        let stores = stack.held(.store)
        stack.finish(stores[1])
        stack.finish(stores[0], .failed(ImageError(.internalError, "the disk is full")))
        #expect(stack.image(token) != nil)
        #expect(stack.isAtRest)
    }

    @Test func factsWaitForTheOriginalWhenAskedTo() {
        var stack = Stack()
        stack.hireAll()
        let client = stack.connect()
        let token = stack.load(
            ImageRequest.image("a", size: nil, [.fromLoaderOnly, .waitStoreCache]).with {
                $0.infoOnly = true
            }, by: client)
        stack.run(.fetch, .decode)
        #expect(stack.reply(token) == nil)
        stack.finish(.store)
        #expect(stack.image(token)?.storedTiers == .all)
        #expect(stack.isAtRest)
    }

    @Test func factsThatNothingIsStoredOfSaySo() {
        var stack = Stack()
        stack.hireAll()
        let client = stack.connect()
        let token = stack.load(
            ImageRequest.image("a", size: nil, [.fromLoaderOnly, .waitStoreCache]).with {
                $0.infoOnly = true
                $0.storeCacheTypes = .none
                $0.originalStoreCacheTypes = .none
            }, by: client)
        stack.run(.fetch, .decode)
        #expect(stack.image(token)?.storedTiers == CacheTypes.none)
        #expect(stack.isAtRest)
    }

    @Test func aCancelWhileTheReplyWaitsForAStoreIsHeard() {
        var stack = Stack()
        stack.hireAll()
        let client = stack.connect()
        let token = stack.load(waiting, by: client)
        stack.run(.fetch, .decode, .transform)
        stack.finish(stack.held(.store)[1])
        stack.send(.cancel(client, token))
        #expect(stack.error(token) == .cancelled)
        stack.finish(.store)
        #expect(stack.replies[token]?.count == 1)
        #expect(stack.isAtRest)
    }

    @Test func anOriginalIsOnlyStoredOnceItDecodes() {
        var stack = Stack()
        stack.hireAll()
        let client = stack.connect()
        stack.load(.image("a", size: 5, .fromLoaderOnly), by: client)
        stack.finish(.fetch)
        #expect(stack.held(.store).isEmpty)
        stack.fail(.decode, .badImageData)
        #expect(stack.held(.store).isEmpty)
        #expect(stack.isAtRest)
    }

    @Test func theOriginalOfManyResultsIsStoredOnce() {
        var stack = Stack()
        stack.hireAll(credit: 8)
        let client = stack.connect()
        for size in 1...5 {
            stack.load(.image("a", size: size, .fromLoaderOnly), by: client)
        }
        stack.load(.image("a", size: nil, .fromLoaderOnly), by: client)
        stack.finish(.fetch)
        for decode in stack.held(.decode) { stack.finish(decode) }
        let originals = stack.held(.store).filter {
            guard case .store(let work) = $0.job.work else { return false }
            return work.key == "http://example.org/a.jpg" && !work.delivers
        }
        #expect(originals.count == 1)
        stack.finishAll()
        #expect(stack.isAtRest)
    }

    @Test func aFullQueueOfTheCacheCostsTheOriginalAndNothingElse() {
        var stack = Stack { $0.dispatch.queuedJobsMax = 1 }
        stack.hireAll(credit: 1)
        let client = stack.connect()
        let token = stack.load(.image("a", size: 5, .fromLoaderOnly), by: client)
        stack.finish(.fetch)
        // One query is held by the cache and one waits.
        for name in ["x", "y"] { stack.load(.image(name), by: client) }
        stack.finish(.decode)
        #expect(stack.scheduler.dispatcher.waiting(in: .store).jobs == 0)
        stack.finishAll()
        #expect(stack.image(token) != nil)
        #expect(stack.isAtRest)
    }

    @Test func promotionFollowsTheStoreTiers() {
        var stack = Stack()
        stack.hireAll()
        let client = stack.connect()
        stack.load(.image("a"), by: client)
        stack.load(.image("b").with { $0.storeCacheTypes = .disk }, by: client)
        let promotes = stack.held(.query).map { held in
            guard case .query(let work) = held.job.work else { return false }
            return work.promotes
        }
        #expect(promotes == [true, false])
    }
}
