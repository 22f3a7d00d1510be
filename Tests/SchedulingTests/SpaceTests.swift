import Model
import Testing

@testable import Coordinator

struct SpaceTests {
    private var stack = Stack.staffed()

    private func loader(_ name: String) -> ImageRequest {
        .loader(name, size: 5).discardingOriginal
    }

    /// Two decoded images, of which the second found no space, and a block that is in use.
    @discardableResult
    private mutating func stackWithAParkedDecode() -> Token {
        stack = Stack.staffed()
        stack.load(loader("a"))
        stack.run(.fetch, .decode)
        let token = stack.load(loader("b"))
        stack.finish(.fetch)
        stack.fail(.decode, .arenaFull)
        return token
    }

    @Test mutating func aJobWithoutSpaceTriesAgainAfterARelease() {
        let token = stackWithAParkedDecode()
        #expect(stack.held(.decode).isEmpty)
        #expect(stack.scheduler.dispatcher.waiting(in: .decode).jobs == 1)
        stack.finish(.transform)
        #expect(stack.held(.decode).map(\.job.attempt) == [2], "the pixels of the first are free")
        stack.end(token)
    }

    @Test mutating func aJobWithoutSpaceTriesAgainAfterATenthOfASecond() {
        let token = stackWithAParkedDecode()
        #expect(stack.scheduler.nextDeadline == stack.now.adding(milliseconds: 100))
        stack.pass(milliseconds: 99)
        #expect(stack.held(.decode).isEmpty)
        stack.pass(milliseconds: 1)
        #expect(stack.held(.decode).count == 1)
        stack.end(token)
    }

    /// The producer learns of released blocks with a delay: meanwhile a job of another worker in
    /// the pool finds no space, although no releasable block is in use.
    @Test mutating func aJobThatFindsNoSpaceJustAfterAReleaseWaits() {
        stack = Stack.staffed(credit: 1)
        stack.load(loader("a"))
        stack.run(.fetch, .decode, .transform)
        let token = stack.load(loader("b"))
        stack.finish(.fetch)
        stack.fail(.decode, .arenaFull)
        #expect(stack.error(token) == nil)
        stack.pass(milliseconds: 100)
        stack.fail(.decode, .arenaFull)
        #expect(stack.error(token) == .busy, "nothing became free for a while")
        stack.end()
    }

    /// A job that arrives while a budget is used up waits for the next released output, without
    /// then starting as many jobs as the workers could take.
    @Test mutating func ofABudgetThatIsUsedUpNoMoreIsGivenOutThanIsReleased() {
        stack = Stack(.cache) { $0.dispatch.outputBytesMax.download = 20_000 }
        stack.hire(.download, credit: 256)
        stack.hire(.decode, credit: 1)
        for number in 0..<200 { stack.load(loader("a\(number)")) }
        // Sizes are unknown at first: the first assignments are limited by the host's share only.
        func finishFetches() {
            while let held = stack.held(.fetch).first {
                stack.finish(held, stack.success(held, length: 1_000))
            }
        }
        finishFetches()
        var most = 0
        for _ in 0..<80 {
            let decode = stack.held(.decode)[0]
            stack.fail(decode, .unsupportedFormat)
            most = max(most, stack.held(.fetch).count)
            finishFetches()
        }
        #expect(most == 1)
        #expect(stack.faults == [])
    }

    /// Transfers that do not end, each expected to be as large as the budget, judging by earlier
    /// ones.
    @Test mutating func whatIsUnderWayKeepsOthersFromHalfOfABudgetAtMost() {
        stack = Stack(.cache) { $0.dispatch.outputBytesMax.download = 20_000 }
        stack.hire(.download, credit: 256)
        stack.hire(.decode, credit: 1)
        stack.load(loader("large"))
        let large = stack.held(.fetch)[0]
        stack.finish(large, stack.success(large, length: 15_000))
        stack.fail(stack.held(.decode)[0], .unsupportedFormat)
        for number in 0..<30 { stack.load(loader("a\(number)")) }
        #expect(stack.held(.fetch).count == 30)
        #expect(stack.faults == [])
    }

    @Test mutating func largeBlocksAreReleasedAtOnce() {
        for (length, isPrompt) in [(UInt64(4) << 20, true), (4 << 20 - 1, false)] {
            stack.load(loader("b\(length)"))
            let fetch = stack.held(.fetch)[0]
            let body = stack.block(of: fetch.worker, length: length)
            stack.finish(
                fetch, .fetched(FetchedBody(reference: body, httpStatus: 200, effectiveURL: "")))
            stack.finish(.decode)
            let release = SchedulerAction.release(fetch.worker, [body.block], isPrompt: isPrompt)
            #expect(stack.actions.contains(release))
            stack.finishAll()
        }
        #expect(stack.isAtRest)
    }

    @Test mutating func aReleaseOfAnotherKindOfWorkerIsNoSpace() {
        stackWithAParkedDecode()
        stack.load(loader("c"), by: stack.connect())
        stack.run(.fetch)
        stack.fail(.decode, .badImageData)
        #expect(stack.held(.decode).isEmpty)
        stack.pass(milliseconds: 100)
        stack.end()
    }

    @Test mutating func withNothingThatCouldBecomeFreeTheRequestIsBusyAtOnce() {
        let token = stack.load(loader("a"))
        stack.finish(.fetch)
        stack.fail(.decode, .arenaFull)
        #expect(stack.error(token) == .busy)
        #expect(stack.counters.refusedBusy == 1)
        #expect(stack.isAtRest)
    }

    @Test mutating func aParkedJobEndsWithTheDeadlineOfItsRequest() {
        stack.load(loader("a"))
        stack.run(.fetch, .decode)
        let token = stack.load(loader("b").within(milliseconds: 30))
        stack.finish(.fetch)
        stack.fail(.decode, .arenaFull)
        stack.pass(milliseconds: 30)
        #expect(stack.error(token) == .deadlineExceeded)
        stack.end()
    }

    @Test mutating func anOriginalWithoutSpaceIsNotStored() {
        let token = stack.load(.loader(size: 5))
        stack.run(.fetch, .decode)
        stack.fail(.store, .arenaFull)
        #expect(stack.scheduler.dispatcher.waiting(in: .store).jobs == 0)
        stack.end(token)
    }

    @Test mutating func aFullCacheIsBusyUnlessClientsCanLetGoOfSomething() {
        let poor = stack.load(loader("a"))
        stack.run(.fetch, .decode, .transform)
        stack.fail(.store, .arenaFull)
        #expect(stack.error(poor) == .busy)

        let block = stack.publish("http://example.org/big.jpg", length: 1 << 20).block
        stack.load(.image("big"))
        stack.evict(block)
        let rich = stack.load(loader("b"))
        stack.run(.fetch, .decode, .transform)
        stack.fail(.store, .arenaFull)
        #expect(stack.reply(rich) == nil)
        stack.release(0)
        stack.finish(.store)
        stack.expectRest([rich])
    }

    @Test mutating func aDeliveryThatNobodyWaitsForDoesNotWaitForSpace() {
        let block = stack.publish("http://example.org/big.jpg", length: 1 << 20).block
        stack.load(.image("big"))
        stack.evict(block)
        let late = stack.load(loader("b").within(milliseconds: 1_000))
        stack.run(.fetch, .decode, .transform)
        stack.fail(.store, .arenaFull)
        #expect(
            stack.scheduler.dispatcher.waiting(in: .store).jobs == 1, "a reader may release space")
        stack.pass(milliseconds: 1_001)
        #expect(stack.error(late) == .deadlineExceeded)
        #expect(stack.scheduler.dispatcher.waiting(in: .store).jobs == 0)
        #expect(stack.scheduler.dispatcher.liveBytes(of: .transform) == 0)
        #expect(stack.isSound)
    }

    @Test mutating func aStageWithTooMuchUnusedOutputStartsNothingNew() {
        stack = Stack { $0.dispatch.outputBytesMax.download = 1_500 }
        for kind in WorkerKind.workers where kind != .decode { stack.hire(kind, credit: 4) }
        let tokens = (0..<4).map { stack.load(loader("p\($0)")) }
        // Three are in flight, as many as one client gets of four slots.
        #expect(stack.held(.fetch).count == 3)
        stack.finishFirst(.fetch)
        #expect(stack.held(.fetch).count == 2, "with those in flight, 1,000 bytes are too much")
        stack.finishFirst(.fetch)
        let late = stack.load(loader("late"))
        #expect(stack.held(.fetch).count == 1)
        stack.finishFirst(.fetch)
        #expect(stack.held(.fetch).isEmpty, "above the budget nothing starts")
        stack.hire(.decode, credit: 1)
        stack.finishAll()
        for token in tokens + [late] { #expect(stack.image(token) != nil) }
        #expect(stack.scheduler.dispatcher.liveBytes(of: .download) == 0)
        #expect(stack.isAtRest)
    }

    @Test mutating func aClientThatKeepsTooMuchGetsTheRestToCopy() {
        stack = Stack.staffed { $0.unreleasedBytesPerClientMax = 5 << 20 }
        let (client, other) = (stack.client, stack.connect())
        let url = "http://example.org/a.jpg"
        let block = stack.publish(url, length: 2 << 20).block
        let image = ImageRequest.image()
        let kept = (0..<2).map { _ in stack.load(image, by: client) }
        let copied = stack.load(image, by: client)
        #expect(kept.allSatisfy { stack.image($0)?.mustCopy == false })
        #expect(stack.image(copied)?.mustCopy == true)
        let others = stack.load(image, by: other)
        #expect(stack.image(others)?.mustCopy == false)
        stack.release(0, by: client)
        let again = stack.load(image, by: client)
        #expect(stack.image(again)?.mustCopy == false)
        stack.disconnect(client)
        stack.disconnect(other)
        stack.evict(block)
        #expect(stack.actions.contains(.release(stack.worker(.cache), [block], isPrompt: true)))
    }

    @Test mutating func allClientsTogetherKeepNoMoreThanIsAllowed() {
        stack = Stack.staffed { $0.unreleasedBytesMax = 3 << 20 }
        let url = "http://example.org/a.jpg"
        stack.publish(url, length: 2 << 20)
        let first = stack.load(.image(), by: stack.connect())
        let second = stack.load(.image(), by: stack.connect())
        #expect(stack.image(first)?.mustCopy == false)
        #expect(stack.image(second)?.mustCopy == true)
    }

    @Test mutating func whatAClientKeptCountsUntilItLeaves() {
        stack = Stack.staffed { $0.unreleasedBytesMax = 3 << 20 }
        stack.publish("http://example.org/a.jpg", length: 2 << 20)
        let (first, second) = (stack.client, stack.connect())
        let kept = stack.load(.image(), by: first)
        let copied = stack.load(.image(), by: second)
        #expect(stack.image(kept)?.mustCopy == false)
        #expect(stack.image(copied)?.mustCopy == true)
        stack.disconnect(first)
        let again = stack.load(.image(), by: second)
        #expect(stack.image(again)?.mustCopy == false)
        #expect(stack.faults == [])
    }
}

struct ResultBlockTests {
    private var stack = Stack.staffed()
    private let key = "http://example.org/a.jpg"
    private let large: UInt64 = 1 << 20

    @Test mutating func aLargeBlockThatIsReadGoesBackAfterItsLastReader() {
        let (first, second) = (stack.client, stack.connect())
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

    @Test func aHoldOfAnUnknownBlockTakesNoReaderLater() {
        var blocks = ResultBlocks(
            unreleasedBytesMax: 1 << 30, unreleasedBytesPerClientMax: 1 << 30)
        let (cache, client) = (WorkerID(1), ClientID(1))
        let reference = BlockReference(
            arena: .results, segment: 0, offset: 0, length: ResultBlocks.largeBytesMin,
            block: BlockID(5))
        let handle = BlockHandle(worker: cache, block: reference.block)
        let early = blocks.hold(handle)
        blocks.notice(reference, of: cache)
        let held = blocks.hold(handle)
        #expect(early == nil && held == handle)
        let isDelivered = blocks.deliver(handle, reference.length, to: client)
        #expect(isDelivered && blocks.readers(of: handle) == 2)
        let isFreeAfterReply = blocks.drop(handle)
        let isFreeAfterEviction = blocks.evict(handle)
        #expect(!isFreeAfterReply && !isFreeAfterEviction)
        let released = blocks.release(reference.block, by: client)
        #expect(released == handle && blocks.readers(of: handle) == nil)
    }

    @Test mutating func aLargeBlockThatNobodyReadsGoesBackAtOnce() {
        let block = stack.publish(key, length: large).block
        stack.evict(block)
        #expect(stack.actions == [.release(stack.worker(.cache), [block], isPrompt: true)])
    }

    @Test mutating func ofASmallBlockTheCacheIsNotTold() {
        let block = stack.publish(key, length: large - 1).block
        stack.load(.image())
        stack.evict(block)
        #expect(stack.actions == [])
        stack.send(.clientReleased(stack.client, [block]))
        #expect(stack.actions == [])
    }

    @Test mutating func aClientThatLeavesLetsGoOfEverything() {
        let block = stack.publish(key, length: large).block
        stack.load(.image())
        stack.load(.image())
        stack.evict(block)
        stack.disconnect()
        #expect(stack.actions == [.release(stack.worker(.cache), [block], isPrompt: true)])
        #expect(!stack.scheduler.hits.blocks.hasDeliveries)
    }

    /// A load of which no cache keeps anything.
    private let unkept = ImageRequest.loader(size: 5).discardingOriginal.with {
        $0.storeCacheTypes = .none
    }

    @Test mutating func aDeliveryWithoutAKeyFollowsTheSameRule() throws {
        let token = stack.load(unkept)
        stack.run(.fetch, .decode)
        stack.transform(length: large)
        stack.finish(.store)
        let block = try #require(stack.image(token)?.reference?.block)
        stack.evict(block)
        #expect(stack.actions == [])
        stack.release(0)
        #expect(stack.actions == [.release(stack.worker(.cache), [block], isPrompt: true)])
        #expect(stack.isAtRest)
    }

    @Test mutating func aReplyThatWaitsForAStoreKeepsItsLargeBlock() {
        let token = stack.load(.loader(size: 5, .waitStoreCache))
        stack.run(.fetch, .decode)
        stack.transform(length: large)
        stack.finish(stack.held(.store)[1])
        #expect(stack.reply(token) == nil)
        let cache = stack.worker(.cache)
        let blocks = stack.workers[cache]?.large.keys.map { $0 } ?? []
        #expect(blocks.count == 1)
        for block in blocks { stack.evict(block) }
        #expect(stack.actions == [])
        stack.cancel(token)
        #expect(stack.actions.contains(.release(cache, blocks, isPrompt: true)))
        stack.end()
    }

    /// The worker that encoded the result is lost while the cache delivers it, so that it is
    /// produced again. The cache still has the first delivery.
    @Test mutating func aDeliveryThatNobodyWantsAnyMoreGoesBackWhenItIsEvicted() throws {
        let token = stack.load(unkept)
        stack.run(.fetch, .decode)
        let encoder = stack.worker(.transform)
        stack.transform(length: large)
        let delivery = stack.held(.store)[0]
        let result = stack.success(delivery)
        let block = try #require(result.references.first?.block)
        stack.kill(encoder)
        #expect(stack.actions.contains(.cancelJob(delivery.worker, delivery.job.id)))
        stack.finish(delivery, result)
        #expect(stack.reply(token) == nil)
        stack.evict(block)
        #expect(stack.actions.contains(.release(delivery.worker, [block], isPrompt: true)))
        stack.hire(.transform)
        stack.end(token)
    }

    /// Releases name no session: block 1 of a cache that died and block 1 of the running one look
    /// the same, and the latter must not be freed too early.
    @Test mutating func aReleaseCountsForTheOlderCacheFirst() {
        stack.publish(key, length: large)
        stack.load(.image())
        stack.kill(stack.worker(.cache))
        let cache = stack.hire(.cache, credit: 4)
        let block = stack.publish(key, length: large).block
        stack.load(.image())
        stack.evict(block)
        stack.release(0)
        #expect(stack.actions == [])
        stack.release(0)
        #expect(stack.actions == [.release(cache, [block], isPrompt: true)])
        #expect(stack.isAtRest)
    }
}
