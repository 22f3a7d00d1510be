import Glibc
import Model
import Testing

@testable import Coordinator

/// Operations on many requests process only a few of them per event.
struct BatchOperationTests {
    private let image = ImageRequest.image("a", size: 3, .fromLoaderOnly)

    /// A stack that processes four items per event, and `count` loads of one image.
    private func crowd(
        _ count: Int, limit: Int = 4, _ image: ImageRequest? = nil
    ) -> (Stack, ClientID, [Token]) {
        var stack = Stack { $0.batchStepsMax = limit }
        stack.hireAll()
        let client = stack.connect()
        let tokens = (0..<count).map { _ in stack.load(image ?? self.image, by: client) }
        return (stack, client, tokens)
    }

    private func replied(_ stack: Stack, _ tokens: [Token]) -> Int {
        tokens.count { stack.reply($0) != nil }
    }

    /// The deadline of an ended request is ignored: no work waits for it.
    @Test func whatIsOverNoLongerHoldsUpWhatIsGivenOut() {
        var stack = Stack { $0.batchStepsMax = 1 }
        let client = stack.connect()
        func brief(_ name: String) -> ImageRequest {
            ImageRequest.image(name, size: 3, .fromLoaderOnly).with {
                $0.timeoutMilliseconds = 1_000
            }
        }
        stack.load(brief("a"), by: client)
        let ended = stack.load(brief("b"), by: client)
        stack.send(.cancel(client, ended))
        stack.load(image.with { $0.url = "http://h/c" }, by: client)
        let worker = stack.hire(.download, credit: 0)
        stack.now = stack.now.adding(milliseconds: 1_000)
        stack.workers[worker]?.window = 1
        stack.send(.credit(worker, 1))
        #expect(stack.held(.fetch).count == 1)
    }

    /// Clients with as many requests as permitted wait for one result; with `IMAGEBUS_LONG=1` as
    /// many requests as the stack permits.
    @Test func noEventAnswersThousandsOfRequests() {
        let clients = getenv("IMAGEBUS_LONG") == nil ? 2 : 16
        let count = clients * 4_096
        var stack = Stack()
        stack.hireAll()
        var tokens: [Token] = []
        for _ in 0..<clients {
            let client = stack.connect()
            for _ in 0..<4_096 {
                let token = Token(Identifier128(high: 2, low: UInt64(tokens.count)))
                tokens.append(token)
                stack.waiting[token] = client
                var actions: [SchedulerAction] = []
                stack.scheduler.handle(
                    .load(client, LoadRequest(token: token, image: image), LoadTerms()),
                    at: stack.now, into: &actions)
                for action in actions { stack.observe(action) }
            }
        }
        let live = stack.scheduler.report["liveRequests"]
        #expect(live == count)
        stack.mostActions = 0
        stack.run(.fetch, .decode, .store, .transform, .store)
        let first = replied(stack, tokens)
        #expect(first == 64, "those of one event")
        stack.finishAll()
        let all = replied(stack, tokens)
        #expect(all == count)
        // A reply and its record, and a constant number of other actions.
        let most = stack.mostActions
        #expect(most <= 2 * 64 + 8)
        let (isIdle, faults) = (stack.scheduler.isIdle, stack.faults.prefix(3))
        #expect(isIdle && faults.isEmpty)
    }

    @Test func noEventEndsAllRequestsOfASession() {
        var (stack, client, tokens) = crowd(4_096, limit: 64)
        stack.disconnect(client)
        let left = stack.scheduler.report["liveRequests"]
        #expect(left == 4_096 - 64)
        let isDue = stack.scheduler.nextDeadline.map { $0 <= stack.now }
        #expect(isDue == true, "it continues at once")
        stack.finishAll()
        let (cancelled, replies) = (stack.counters.cancelled, replied(stack, tokens))
        #expect(cancelled == 4_096 && replies == 0)
        let isAtRest = stack.isAtRest
        #expect(isAtRest)
    }

    @Test func noEventTellsAllOfADeadlineOrOfProgress() {
        var stack = Stack { $0.batchStepsMax = 4 }
        stack.hireAll()
        let client = stack.connect()
        let brief = image.with { $0.timeoutMilliseconds = 10 }
        let tokens = (0..<50).map { _ in stack.load(brief, by: client, wantsProgress: true) }
        let held = stack.held(.fetch)[0]
        func progress(_ bytes: UInt64) -> SchedulerEvent {
            .progress(
                held.worker,
                JobProgress(
                    id: held.job.id, attempt: held.job.attempt, received: bytes, expected: 9))
        }
        stack.mostActions = 0
        stack.send(progress(1))
        stack.send(progress(2))
        stack.goOn()
        #expect(tokens.allSatisfy { stack.progress[$0]?.map(\.received) == [1] })
        stack.send(progress(3))
        stack.goOn()
        #expect(tokens.allSatisfy { stack.progress[$0]?.map(\.received) == [1, 3] })
        stack.pass(milliseconds: 20)
        #expect(replied(stack, tokens) == 4)
        stack.goOn()
        #expect(tokens.allSatisfy { stack.error($0) == .deadlineExceeded })
        #expect(stack.mostActions <= 2 * 4 + 2)
        stack.finishAll()
        let isAtRest = stack.isAtRest
        #expect(isAtRest, "\(stack)")
    }

    @Test func repliesKeepTheirOrderAndACancelTakesTheAnswersPlace() {
        var (stack, client, tokens) = crowd(20)
        stack.run(.fetch, .decode, .store, .transform, .store)
        #expect(replied(stack, tokens) == 4)
        stack.send(.cancel(client, tokens[18]))
        stack.goOn()
        #expect(stack.error(tokens[18]) == .cancelled)
        #expect(tokens.allSatisfy { stack.replies[$0]?.count == 1 }, "never both")
        #expect(tokens.count { stack.image($0) != nil } == 19)
        stack.finishAll()
        let isAtRest = stack.isAtRest
        #expect(isAtRest, "\(stack)")
    }

    @Test func theReplyThatWasFirstToWaitGoesOutFirst() {
        var (stack, _, tokens) = crowd(20)
        stack.run(.fetch, .decode, .store, .transform, .store)
        for sent in 1...5 {
            let count = min(20, 4 * sent)
            #expect(tokens.prefix(count).allSatisfy { stack.reply($0) != nil })
            #expect(replied(stack, tokens) == count)
            stack.send(.tick)
        }
    }

    @Test func aLargeBlockStaysUntilTheLastHasItsReply() throws {
        var (stack, client, tokens) = crowd(12, limit: 1)
        stack.run(.fetch, .decode, .store)
        let transform = stack.held(.transform)[0]
        stack.finish(transform, stack.success(transform, length: 1 << 20))
        stack.finish(.store)
        let block = try #require(stack.image(tokens[0])?.reference?.block)
        stack.evict(block)
        let reading = stack.reading.updateValue([], forKey: client) ?? []
        stack.send(.clientReleased(client, reading.map(\.block)))
        #expect(replied(stack, tokens) < 12, "some wait for their turn")
        #expect(stack.workers[stack.worker(.cache)]?.large[block] == true, "it is kept for them")
        stack.goOn()
        #expect(replied(stack, tokens) == 12)
        while stack.reading[client]?.isEmpty == false { stack.release(0, by: client) }
        #expect(stack.workers[stack.worker(.cache)]?.large[block] == nil)
        stack.finishAll()
        let isAtRest = stack.isAtRest
        #expect(isAtRest, "\(stack)")
    }

    @Test func whoWaitsForItsTurnWhenTheCacheGoesBeginsAgain() {
        var (stack, _, tokens) = crowd(12)
        stack.run(.fetch, .decode, .store, .transform, .store)
        stack.kill(stack.worker(.cache))
        stack.goOn()
        #expect(replied(stack, tokens) == 4)
        stack.hire(.cache, credit: 4)
        stack.finishAll()
        #expect(tokens.allSatisfy { stack.image($0) != nil })
        let isAtRest = stack.isAtRest
        #expect(isAtRest, "\(stack)")
    }

    /// The image is in the cache by the time the last of them would proceed to the origin.
    @Test func whatIsStoredWhileSomeWaitForTheirTurnIsNotFetchedTwice() {
        var stack = Stack { $0.batchTransitionsMax = 1 }
        stack.hireAll()
        let client = stack.connect()
        let image = ImageRequest.image("a", size: 3).with { $0.originalQueryCacheTypes = .none }
        let tokens = (0..<20).map { _ in stack.load(image, by: client) }
        stack.run(.query, .fetch, .decode, .store, .transform, .store)
        let isUnfinished = stack.scheduler.isUnfinished
        #expect(isUnfinished, "some wait for their turn")
        repeat {
            while let held = stack.allHeld.first {
                let isQuery = held.job.work.stage == .query
                stack.finish(held, isQuery ? stack.hit(held) : stack.success(held))
            }
            stack.goOn()
        } while !stack.allHeld.isEmpty
        #expect(tokens.allSatisfy { stack.image($0) != nil })
        #expect(stack.counters.fetches == 1)
        let isAtRest = stack.isAtRest
        #expect(isAtRest, "\(stack)")
    }

    @Test func theTokenOfASessionThatEndsIsFreeAtOnce() {
        var (stack, client, tokens) = crowd(20)
        stack.disconnect(client)
        let next = stack.connect(again: client)
        stack.load(image, by: next, token: tokens[19])
        let other = stack.connect()
        stack.load(image, by: other, token: tokens[18])
        stack.finishAll()
        #expect(stack.image(tokens[19]) != nil && stack.image(tokens[18]) != nil)
        let (replies, cancelled) = (replied(stack, tokens), stack.counters.cancelled)
        #expect(replies == 2 && cancelled == 20)
        let isAtRest = stack.isAtRest
        #expect(isAtRest, "\(stack)")
    }

    /// A new request isn't delayed by a batch operation on many others.
    @Test func whoComesMeanwhileIsNotBehindThemAll() {
        var (stack, client, _) = crowd(200)
        stack.run(.fetch, .decode, .store, .transform, .store)
        stack.load(.image("b", size: 3, .fromLoaderOnly), by: client)
        #expect(stack.held(.fetch).count == 1)
        let isUnfinished = stack.scheduler.isUnfinished
        #expect(isUnfinished)
    }
}
