import Model
import Testing

@testable import Coordinator

struct WorkerLossTests {
    @Test func jobsOfADeadWorkerGoToTheFrontAsNewAttempts() {
        var stack = Stack()
        let worker = stack.hire(.download, credit: 2)
        let client = stack.connect()
        for name in ["a", "b", "c"] {
            stack.load(.image(name, size: nil, .fromLoaderOnly), by: client)
        }
        stack.kill(worker)
        stack.hire(.download, credit: 3)
        #expect(stack.held(.fetch).map(\.job.id.value) == [1, 2, 3])
        #expect(stack.held(.fetch).map(\.job.attempt) == [2, 2, 1])
        #expect(stack.counters.requeued == 2)
        #expect(stack.faults == [])
    }

    @Test func jobsOfADeadWorkerKeepTheirOrder() {
        var stack = Stack()
        let worker = stack.hire(.download, credit: 8)
        let client = stack.connect()
        for name in ["a", "b", "c"] {
            stack.load(.image(name, size: nil, .fromLoaderOnly), by: client)
        }
        #expect(stack.held(.fetch).count == 3)
        stack.kill(worker)
        stack.hire(.download, credit: 1)
        var order: [UInt64] = []
        while let next = stack.held(.fetch).first {
            order.append(next.job.id.value)
            stack.finish(next, .failed(ImageError(.invalidDownloadContentType, "as told")))
        }
        #expect(order == [1, 2, 3])
        #expect(stack.isAtRest)
    }

    @Test func afterTenWorkersTheRequestEnds() {
        var stack = Stack()
        let client = stack.connect()
        let token = stack.load(.image("a", size: nil, .fromLoaderOnly), by: client)
        for attempt in 1...10 {
            #expect(stack.reply(token) == nil, "attempt \(attempt)")
            stack.kill(stack.hire(.download))
        }
        #expect(stack.error(token) == .workerLost)
        #expect(stack.isAtRest)
    }

    @Test func aDyingJobDiesWithItsWorker() {
        var stack = Stack()
        stack.hireAll()
        let client = stack.connect()
        let token = stack.load(.image("a", size: nil, .fromLoaderOnly), by: client)
        stack.send(.cancel(client, token))
        stack.kill(stack.worker(.download))
        #expect(stack.isAtRest)
    }

    @Test func aBodyThatWasLostIsFetchedAgain() {
        var stack = Stack()
        stack.hireAll()
        let client = stack.connect()
        let token = stack.load(.image("a", size: 5, .fromLoaderOnly), by: client)
        stack.finish(.fetch)
        let decode = stack.held(.decode)[0]
        stack.kill(stack.worker(.download))
        #expect(stack.allHeld.map(\.isCancelled) == [true], "the decode is given up")
        stack.hire(.download)
        #expect(stack.held(.fetch).count == 1)
        stack.finish(decode, stack.success(decode))
        stack.finishAll()
        #expect(stack.image(token) != nil)
        #expect(stack.isAtRest)
    }

    @Test func lostPixelsAreMadeAgainOfTheBytesThatAreThere() {
        var stack = Stack()
        stack.hireAll()
        let client = stack.connect()
        let token = stack.load(.image("a", size: 5, .fromLoaderOnly), by: client)
        stack.run(.fetch, .decode)
        stack.kill(stack.worker(.decode))
        stack.hire(.decode)
        #expect(stack.held(.fetch).isEmpty, "the body waits for its store and is still there")
        stack.finish(.decode)
        stack.finishAll()
        #expect(stack.image(token) != nil)
        #expect(stack.counters.fetches == 1)
        #expect(stack.isAtRest)
    }

    @Test func lostPixelsAreMadeAgainOfTheStoredOriginal() {
        var stack = Stack()
        stack.hireAll()
        let client = stack.connect()
        let token = stack.load(.image(size: 5), by: client)
        stack.run(.query, .query, .fetch, .decode, .store)
        stack.kill(stack.worker(.decode))
        stack.hire(.decode)
        stack.finish(.query)
        let original = stack.held(.query)[0]
        stack.finish(original, stack.hit(original))
        stack.finishAll()
        #expect(stack.image(token) != nil)
        #expect(stack.counters.fetches == 1, "stored bytes aren't fetched again")
        #expect(stack.isAtRest)
    }

    @Test func aLostResultIsMadeAgain() {
        var stack = Stack()
        stack.hireAll()
        let client = stack.connect()
        let token = stack.load(.image(size: 5), by: client)
        stack.run(.query, .query, .fetch, .decode, .transform)
        stack.kill(stack.worker(.transform))
        stack.hire(.transform)
        stack.finishAll()
        #expect(stack.image(token) != nil)
        #expect(stack.replies[token]?.count == 1)
        #expect(stack.isAtRest)
    }

    @Test func whatIsLostTenTimesEndsWithWorkerLost() {
        var stack = Stack()
        stack.hire(.cache)
        stack.hire(.download)
        let client = stack.connect()
        let token = stack.load(
            ImageRequest.image("a", size: 5, .fromLoaderOnly).with {
                $0.originalStoreCacheTypes = .none
            }, by: client)
        for _ in 1...10 {
            #expect(stack.reply(token) == nil)
            stack.finish(.fetch)
            let decoder = stack.hire(.decode)
            stack.finish(.decode)
            stack.kill(decoder)
        }
        #expect(stack.error(token) == .workerLost)
        stack.finishAll()
        #expect(stack.isAtRest)
    }

    @Test func queriesWaitForTheCacheToComeBack() {
        var stack = Stack()
        stack.hireAll()
        let client = stack.connect()
        let token = stack.load(.image(), by: client)
        stack.kill(stack.worker(.cache))
        stack.pass(milliseconds: 200)
        #expect(stack.reply(token) == nil)
        stack.hire(.cache)
        let query = stack.held(.query)[0]
        #expect(query.job.attempt == 2)
        stack.finish(query, stack.hit(query))
        #expect(stack.image(token) != nil)
        #expect(stack.isAtRest)
    }

    @Test func deliveriesWaitForTheCacheToComeBackOrForTheDeadline() {
        var stack = Stack()
        stack.hireAll()
        let client = stack.connect()
        func image(_ milliseconds: Int) -> ImageRequest {
            ImageRequest.image("a", size: nil, .fromLoaderOnly).with {
                $0.timeoutMilliseconds = milliseconds
            }
        }
        let hasty = stack.load(image(100), by: client)
        let patient = stack.load(image(900), by: client)
        stack.run(.fetch, .decode)
        stack.kill(stack.worker(.cache))
        stack.pass(milliseconds: 100)
        #expect(stack.error(hasty) == .deadlineExceeded)
        stack.hire(.cache)
        stack.finish(.store)
        #expect(stack.image(patient) != nil)
        #expect(stack.isAtRest)
    }

    @Test func anOriginalThatTheCacheHadStagedIsLookedForAgain() {
        var stack = Stack()
        stack.hireAll()
        let client = stack.connect()
        let token = stack.load(.image(size: 5), by: client)
        stack.finish(.query)
        let original = stack.held(.query)[0]
        stack.finish(original, stack.hit(original))
        stack.kill(stack.worker(.cache))
        #expect(stack.allHeld.map(\.isCancelled) == [true])
        stack.hire(.cache)
        stack.run(.query, .query, .fetch)
        stack.finishAll()
        #expect(stack.image(token) != nil)
        #expect(stack.isAtRest)
    }

    @Test func anImageWhoseReplyHadNotGoneOutIsMadeAgain() {
        var stack = Stack()
        stack.hireAll()
        let client = stack.connect()
        let token = stack.load(
            .image("a", size: 5, [.fromLoaderOnly, .waitStoreCache]), by: client)
        stack.run(.fetch, .decode, .transform)
        let delivery = stack.held(.store)[1]
        stack.finish(delivery)
        #expect(stack.reply(token) == nil, "the original is not stored yet")
        stack.kill(stack.worker(.cache))
        let cache = stack.hire(.cache, credit: 4)
        stack.finishAll()
        let incarnation = stack.workers[cache]?.incarnation
        #expect(stack.image(token)?.reference?.producer?.incarnation == incarnation)
        #expect(stack.replies[token]?.count == 1)
        #expect(stack.isAtRest)
    }
}
