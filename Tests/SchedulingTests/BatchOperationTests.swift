import Glibc
import Model
import Testing

@testable import Coordinator

/// Operations on many requests process only a few of them per event.
struct BatchOperationTests {
    private var stack = Stack.staffed()
    private let image = ImageRequest.loader(size: 3)

    /// A stack that processes four items per event, and `count` loads of one image.
    @discardableResult
    private mutating func crowd(_ count: Int, limit: Int = 4, _ image: ImageRequest? = nil)
        -> [Token]
    {
        stack = Stack.staffed { $0.batchStepsMax = limit }
        let tokens = (0..<count).map { _ in stack.load(image ?? self.image) }
        return tokens
    }

    private func replied(_ tokens: [Token]) -> Int {
        tokens.count { stack.reply($0) != nil }
    }

    /// The deadline of an ended request is ignored: no work waits for it.
    @Test mutating func whatIsOverNoLongerHoldsUpWhatIsGivenOut() {
        stack = Stack { $0.batchStepsMax = 1 }
        func brief(_ name: String) -> ImageRequest {
            ImageRequest.loader(name, size: 3).with {
                $0.timeoutMilliseconds = 1_000
            }
        }
        stack.load(brief("a"))
        let ended = stack.load(brief("b"))
        stack.cancel(ended)
        stack.load(image.with { $0.url = "http://h/c" })
        let worker = stack.hire(.download, credit: 0)
        stack.wait(milliseconds: 1_000)
        stack.workers[worker]?.window = 1
        stack.send(.credit(worker, 1))
        #expect(stack.held(.fetch).count == 1)
    }

    /// Clients with as many requests as permitted wait for one result; with `IMAGEBUS_LONG=1` as
    /// many requests as the stack permits.
    @Test mutating func noEventAnswersThousandsOfRequests() {
        let clients = getenv("IMAGEBUS_LONG") == nil ? 2 : 16
        let count = clients * 4_096
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
        let first = replied(tokens)
        #expect(first == 64, "those of one event")
        stack.finishAll()
        let all = replied(tokens)
        #expect(all == count)
        // A reply and its record, and a constant number of other actions.
        let most = stack.mostActions
        #expect(most <= 2 * 64 + 8)
        let (isIdle, faults) = (stack.scheduler.isIdle, stack.faults.prefix(3))
        #expect(isIdle && faults.isEmpty)
    }

    @Test mutating func noEventEndsAllRequestsOfASession() {
        let tokens = crowd(4_096, limit: 64)
        stack.disconnect()
        let left = stack.scheduler.report["liveRequests"]
        #expect(left == 4_096 - 64)
        let isDue = stack.scheduler.nextDeadline.map { $0 <= stack.now }
        #expect(isDue == true, "it continues at once")
        stack.finishAll()
        let (cancelled, replies) = (stack.counters.cancelled, replied(tokens))
        #expect(cancelled == 4_096 && replies == 0)
        stack.expectRest()
    }

    @Test mutating func noEventTellsAllOfADeadlineOrOfProgress() {
        stack = Stack.staffed { $0.batchStepsMax = 4 }
        let brief = image.within(milliseconds: 10)
        let tokens = (0..<50).map { _ in stack.load(brief, wantsProgress: true) }
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
        #expect(replied(tokens) == 4)
        stack.goOn()
        #expect(tokens.allSatisfy { stack.error($0) == .deadlineExceeded })
        #expect(stack.mostActions <= 2 * 4 + 2)
        stack.end()
    }

    @Test mutating func repliesKeepTheirOrderAndACancelTakesTheAnswersPlace() {
        let tokens = crowd(20)
        stack.run(.fetch, .decode, .store, .transform, .store)
        #expect(replied(tokens) == 4)
        stack.cancel(tokens[18])
        stack.goOn()
        #expect(stack.error(tokens[18]) == .cancelled)
        #expect(tokens.allSatisfy { stack.replies[$0]?.count == 1 }, "never both")
        #expect(tokens.count { stack.image($0) != nil } == 19)
        stack.end()
    }

    @Test mutating func theReplyThatWasFirstToWaitGoesOutFirst() {
        let tokens = crowd(20)
        stack.run(.fetch, .decode, .store, .transform, .store)
        for sent in 1...5 {
            let count = min(20, 4 * sent)
            #expect(tokens.prefix(count).allSatisfy { stack.reply($0) != nil })
            #expect(replied(tokens) == count)
            stack.send(.tick)
        }
    }

    @Test mutating func aLargeBlockStaysUntilTheLastHasItsReply() throws {
        let tokens = crowd(12, limit: 1)
        stack.run(.fetch, .decode, .store)
        stack.transform(length: 1 << 20)
        stack.finish(.store)
        let block = try #require(stack.image(tokens[0])?.reference?.block)
        stack.evict(block)
        let reading = stack.reading.updateValue([], forKey: stack.client) ?? []
        stack.send(.clientReleased(stack.client, reading.map(\.block)))
        #expect(replied(tokens) < 12, "some wait for their turn")
        #expect(stack.workers[stack.worker(.cache)]?.large[block] == true, "it is kept for them")
        stack.goOn()
        #expect(replied(tokens) == 12)
        while stack.reading[stack.client]?.isEmpty == false { stack.release(0) }
        #expect(stack.workers[stack.worker(.cache)]?.large[block] == nil)
        stack.end()
    }

    @Test mutating func whoWaitsForItsTurnWhenTheCacheGoesBeginsAgain() {
        let tokens = crowd(12)
        stack.run(.fetch, .decode, .store, .transform, .store)
        stack.kill(stack.worker(.cache))
        stack.goOn()
        #expect(replied(tokens) == 4)
        stack.hire(.cache, credit: 4)
        stack.finishAll()
        #expect(tokens.allSatisfy { stack.image($0) != nil })
        stack.expectRest()
    }

    /// The image is in the cache by the time the last of them would proceed to the origin.
    @Test mutating func whatIsStoredWhileSomeWaitForTheirTurnIsNotFetchedTwice() {
        stack = Stack.staffed { $0.batchTransitionsMax = 1 }
        let image = ImageRequest.image("a", size: 3).with { $0.originalQueryCacheTypes = .none }
        let tokens = (0..<20).map { _ in stack.load(image) }
        stack.run(.query, .fetch, .decode, .store, .transform, .store)
        let isUnfinished = stack.scheduler.isUnfinished
        #expect(isUnfinished, "some wait for their turn")
        repeat {
            stack.finishJobs { $1.work.stage == .query ? $0.hit($1) : nil }
            stack.goOn()
        } while !stack.allHeld.isEmpty
        #expect(tokens.allSatisfy { stack.image($0) != nil })
        #expect(stack.counters.fetches == 1)
        stack.expectRest()
    }

    @Test mutating func theTokenOfASessionThatEndsIsFreeAtOnce() {
        let tokens = crowd(20)
        stack.disconnect()
        let next = stack.connect(again: stack.client)
        stack.load(image, by: next, token: tokens[19])
        let other = stack.connect()
        stack.load(image, by: other, token: tokens[18])
        stack.finishAll()
        #expect(stack.image(tokens[19]) != nil && stack.image(tokens[18]) != nil)
        let (replies, cancelled) = (replied(tokens), stack.counters.cancelled)
        #expect(replies == 2 && cancelled == 20)
        stack.expectRest()
    }

    /// A new request isn't delayed by a batch operation on many others.
    @Test mutating func whoComesMeanwhileIsNotBehindThemAll() {
        crowd(200)
        stack.run(.fetch, .decode, .store, .transform, .store)
        stack.load(.loader("b", size: 3))
        #expect(stack.held(.fetch).count == 1)
        let isUnfinished = stack.scheduler.isUnfinished
        #expect(isUnfinished)
    }
}
