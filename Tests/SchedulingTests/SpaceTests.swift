import Model
import Testing

@testable import Coordinator

struct SpaceTests {
    private func loader(_ name: String) -> ImageRequest {
        .image(name, size: 5, .fromLoaderOnly).with { $0.originalStoreCacheTypes = .none }
    }

    /// Two decoded images, of which the second found no space, and a block that is in use.
    private func stackWithAParkedDecode() -> (Stack, Token) {
        var stack = Stack()
        stack.hireAll()
        let client = stack.connect()
        stack.load(loader("a"), by: client)
        stack.run(.fetch, .decode)
        let token = stack.load(loader("b"), by: client)
        stack.finish(.fetch)
        stack.fail(.decode, .arenaFull)
        return (stack, token)
    }

    @Test func aJobWithoutSpaceTriesAgainAfterARelease() {
        var (stack, token) = stackWithAParkedDecode()
        #expect(stack.held(.decode).isEmpty)
        #expect(stack.scheduler.dispatcher.waiting(in: .decode).jobs == 1)
        stack.finish(.transform)
        #expect(stack.held(.decode).map(\.job.attempt) == [2], "the pixels of the first are free")
        stack.finishAll()
        #expect(stack.image(token) != nil)
        #expect(stack.isAtRest)
    }

    @Test func aJobWithoutSpaceTriesAgainAfterATenthOfASecond() {
        var (stack, token) = stackWithAParkedDecode()
        #expect(stack.scheduler.nextDeadline == stack.now.adding(milliseconds: 100))
        stack.pass(milliseconds: 99)
        #expect(stack.held(.decode).isEmpty)
        stack.pass(milliseconds: 1)
        #expect(stack.held(.decode).count == 1)
        stack.finishAll()
        #expect(stack.image(token) != nil)
        #expect(stack.isAtRest)
    }

    /// The producer learns of released blocks with a delay: meanwhile a job of another worker in
    /// the pool finds no space, although no releasable block is in use.
    @Test func aJobThatFindsNoSpaceJustAfterAReleaseWaits() {
        var stack = Stack()
        stack.hireAll(credit: 1)
        let client = stack.connect()
        stack.load(loader("a"), by: client)
        stack.run(.fetch, .decode)
        stack.finish(.transform)
        let token = stack.load(loader("b"), by: client)
        stack.finish(.fetch)
        stack.fail(.decode, .arenaFull)
        #expect(stack.error(token) == nil)
        stack.pass(milliseconds: 100)
        stack.fail(.decode, .arenaFull)
        #expect(stack.error(token) == .busy, "nothing became free for a while")
        stack.finishAll()
        #expect(stack.isAtRest)
    }

    /// A job that arrives while a budget is used up waits for the next released output, without
    /// then starting as many jobs as the workers could take.
    @Test func ofABudgetThatIsUsedUpNoMoreIsGivenOutThanIsReleased() {
        var stack = Stack { $0.dispatch.outputBytesMax.download = 20_000 }
        stack.hire(.cache)
        stack.hire(.download, credit: 256)
        stack.hire(.decode, credit: 1)
        let client = stack.connect()
        for number in 0..<200 { stack.load(loader("a\(number)"), by: client) }
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
            stack.finish(decode, .failed(ImageError(.unsupportedFormat, "as told")))
            most = max(most, stack.held(.fetch).count)
            finishFetches()
        }
        #expect(most == 1)
        #expect(stack.faults == [])
    }

    /// Transfers that do not end, each expected to be as large as the budget, judging by earlier
    /// ones.
    @Test func whatIsUnderWayKeepsOthersFromHalfOfABudgetAtMost() {
        var stack = Stack { $0.dispatch.outputBytesMax.download = 20_000 }
        stack.hire(.cache)
        stack.hire(.download, credit: 256)
        stack.hire(.decode, credit: 1)
        let client = stack.connect()
        stack.load(loader("large"), by: client)
        let large = stack.held(.fetch)[0]
        stack.finish(large, stack.success(large, length: 15_000))
        stack.finish(
            stack.held(.decode)[0], .failed(ImageError(.unsupportedFormat, "as told")))
        for number in 0..<30 { stack.load(loader("a\(number)"), by: client) }
        #expect(stack.held(.fetch).count == 30)
        #expect(stack.faults == [])
    }

    @Test func largeBlocksAreReleasedAtOnce() {
        var stack = Stack()
        stack.hireAll()
        let client = stack.connect()
        for (length, isPrompt) in [(UInt64(4) << 20, true), (4 << 20 - 1, false)] {
            stack.load(loader("b\(length)"), by: client)
            let fetch = stack.held(.fetch)[0]
            let body = stack.block(of: fetch.worker, length: length)
            stack.finish(
                fetch, .fetched(FetchedBody(reference: body, httpStatus: 200, effectiveURL: "")))
            stack.finish(.decode)
            let release = SchedulerAction.release(
                fetch.worker, [body.block], isPrompt: isPrompt)
            #expect(stack.actions.contains(release))
            stack.finishAll()
        }
        #expect(stack.isAtRest)
    }

    @Test func aReleaseOfAnotherKindOfWorkerIsNoSpace() {
        var (stack, _) = stackWithAParkedDecode()
        let client = stack.connect()
        stack.load(loader("c"), by: client)
        let fetch = stack.held(.fetch)[0]
        stack.finish(fetch)
        stack.fail(.decode, .badImageData)
        #expect(stack.held(.decode).isEmpty)
        stack.pass(milliseconds: 100)
        stack.finishAll()
        #expect(stack.isAtRest)
    }

    @Test func withNothingThatCouldBecomeFreeTheRequestIsBusyAtOnce() {
        var stack = Stack()
        stack.hireAll()
        let client = stack.connect()
        let token = stack.load(loader("a"), by: client)
        stack.finish(.fetch)
        stack.fail(.decode, .arenaFull)
        #expect(stack.error(token) == .busy)
        #expect(stack.counters.refusedBusy == 1)
        #expect(stack.isAtRest)
    }

    @Test func aParkedJobEndsWithTheDeadlineOfItsRequest() {
        var stack = Stack()
        stack.hireAll()
        let client = stack.connect()
        stack.load(loader("a"), by: client)
        stack.run(.fetch, .decode)
        let token = stack.load(loader("b").with { $0.timeoutMilliseconds = 30 }, by: client)
        stack.finish(.fetch)
        stack.fail(.decode, .arenaFull)
        stack.pass(milliseconds: 30)
        #expect(stack.error(token) == .deadlineExceeded)
        stack.finishAll()
        #expect(stack.isAtRest)
    }

    @Test func anOriginalWithoutSpaceIsNotStored() {
        var stack = Stack()
        stack.hireAll()
        let client = stack.connect()
        let token = stack.load(.image("a", size: 5, .fromLoaderOnly), by: client)
        stack.run(.fetch, .decode)
        stack.fail(.store, .arenaFull)
        #expect(stack.scheduler.dispatcher.waiting(in: .store).jobs == 0)
        stack.finishAll()
        #expect(stack.image(token) != nil)
        #expect(stack.isAtRest)
    }

    @Test func aFullCacheIsBusyUnlessClientsCanLetGoOfSomething() {
        var stack = Stack()
        stack.hireAll()
        let client = stack.connect()
        let poor = stack.load(loader("a"), by: client)
        stack.run(.fetch, .decode, .transform)
        stack.fail(.store, .arenaFull)
        #expect(stack.error(poor) == .busy)

        let block = stack.publish("http://example.org/big.jpg", length: 1 << 20).block
        stack.load(.image("big"), by: client)
        stack.evict(block)
        let rich = stack.load(loader("b"), by: client)
        stack.run(.fetch, .decode, .transform)
        stack.fail(.store, .arenaFull)
        #expect(stack.reply(rich) == nil)
        stack.release(0, by: client)
        stack.finish(.store)
        #expect(stack.image(rich) != nil)
        #expect(stack.isAtRest)
    }

    @Test func aDeliveryThatNobodyWaitsForDoesNotWaitForSpace() {
        var stack = Stack()
        stack.hireAll()
        let client = stack.connect()
        let block = stack.publish("http://example.org/big.jpg", length: 1 << 20).block
        stack.load(.image("big"), by: client)
        stack.evict(block)
        let late = stack.load(loader("b").with { $0.timeoutMilliseconds = 1_000 }, by: client)
        stack.run(.fetch, .decode, .transform)
        stack.fail(.store, .arenaFull)
        #expect(
            stack.scheduler.dispatcher.waiting(in: .store).jobs == 1, "a reader may release space")
        stack.pass(milliseconds: 1_001)
        #expect(stack.error(late) == .deadlineExceeded)
        #expect(stack.scheduler.dispatcher.waiting(in: .store).jobs == 0)
        #expect(stack.scheduler.dispatcher.liveBytes(of: .transform) == 0)
        #expect(stack.scheduler.audit() == [] && stack.faults == [])
    }

    @Test func aStageWithTooMuchUnusedOutputStartsNothingNew() {
        var stack = Stack { $0.dispatch.outputBytesMax.download = 1_500 }
        for kind in WorkerKind.workers where kind != .decode { stack.hire(kind, credit: 4) }
        let client = stack.connect()
        let tokens = (0..<4).map { stack.load(loader("p\($0)"), by: client) }
        // Three are in flight, as many as one client gets of four slots.
        #expect(stack.held(.fetch).count == 3)
        stack.finish(stack.held(.fetch)[0])
        #expect(stack.held(.fetch).count == 2, "with those in flight, 1,000 bytes are too much")
        stack.finish(stack.held(.fetch)[0])
        let late = stack.load(loader("late"), by: client)
        #expect(stack.held(.fetch).count == 1)
        stack.finish(stack.held(.fetch)[0])
        #expect(stack.held(.fetch).isEmpty, "above the budget nothing starts")
        stack.hire(.decode, credit: 1)
        stack.finishAll()
        for token in tokens + [late] { #expect(stack.image(token) != nil) }
        #expect(stack.scheduler.dispatcher.liveBytes(of: .download) == 0)
        #expect(stack.isAtRest)
    }

    @Test func aClientThatKeepsTooMuchGetsTheRestToCopy() {
        var stack = Stack { $0.unreleasedBytesPerClientMax = 5 << 20 }
        stack.hireAll()
        let (client, other) = (stack.connect(), stack.connect())
        let url = "http://example.org/a.jpg"
        let block = stack.publish(url, length: 2 << 20).block
        let image = ImageRequest.image("a")
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

    @Test func allClientsTogetherKeepNoMoreThanIsAllowed() {
        var stack = Stack { $0.unreleasedBytesMax = 3 << 20 }
        stack.hireAll()
        let url = "http://example.org/a.jpg"
        stack.publish(url, length: 2 << 20)
        let first = stack.load(.image("a"), by: stack.connect())
        let second = stack.load(.image("a"), by: stack.connect())
        #expect(stack.image(first)?.mustCopy == false)
        #expect(stack.image(second)?.mustCopy == true)
    }

    @Test func whatAClientKeptCountsUntilItLeaves() {
        var stack = Stack { $0.unreleasedBytesMax = 3 << 20 }
        stack.hireAll()
        stack.publish("http://example.org/a.jpg", length: 2 << 20)
        let (first, second) = (stack.connect(), stack.connect())
        let kept = stack.load(.image("a"), by: first)
        let copied = stack.load(.image("a"), by: second)
        #expect(stack.image(kept)?.mustCopy == false)
        #expect(stack.image(copied)?.mustCopy == true)
        stack.disconnect(first)
        let again = stack.load(.image("a"), by: second)
        #expect(stack.image(again)?.mustCopy == false)
        #expect(stack.faults == [])
    }
}
