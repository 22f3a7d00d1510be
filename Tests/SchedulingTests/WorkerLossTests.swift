import Model
import Testing

@testable import Coordinator

struct WorkerLossTests {
    private var stack = Stack.staffed()

    @Test mutating func jobsOfADeadWorkerGoToTheFrontAsNewAttempts() {
        stack = Stack()
        let worker = stack.hire(.download, credit: 2)
        for name in ["a", "b", "c"] { stack.load(.loader(name)) }
        stack.kill(worker)
        stack.hire(.download, credit: 3)
        #expect(stack.held(.fetch).map(\.job.id.value) == [1, 2, 3])
        #expect(stack.held(.fetch).map(\.job.attempt) == [2, 2, 1])
        #expect(stack.counters.requeued == 2)
        #expect(stack.faults == [])
    }

    @Test mutating func jobsOfADeadWorkerKeepTheirOrder() {
        stack = Stack()
        let worker = stack.hire(.download, credit: 8)
        for name in ["a", "b", "c"] { stack.load(.loader(name)) }
        #expect(stack.held(.fetch).count == 3)
        stack.kill(worker)
        stack.hire(.download, credit: 1)
        var order: [UInt64] = []
        while let next = stack.held(.fetch).first {
            order.append(next.job.id.value)
            stack.fail(next, .invalidDownloadContentType)
        }
        #expect(order == [1, 2, 3])
        #expect(stack.isAtRest)
    }

    @Test mutating func afterTenWorkersTheRequestEnds() {
        stack = Stack()
        let token = stack.load(.loader())
        for attempt in 1...10 {
            #expect(stack.reply(token) == nil, "attempt \(attempt)")
            stack.kill(stack.hire(.download))
        }
        #expect(stack.error(token) == .workerLost)
        #expect(stack.isAtRest)
    }

    @Test mutating func aDyingJobDiesWithItsWorker() {
        let token = stack.load(.loader())
        stack.cancel(token)
        stack.kill(stack.worker(.download))
        #expect(stack.isAtRest)
    }

    @Test mutating func aBodyThatWasLostIsFetchedAgain() {
        let token = stack.load(.loader(size: 5))
        stack.finish(.fetch)
        let decode = stack.held(.decode)[0]
        stack.kill(stack.worker(.download))
        #expect(stack.allHeld.map(\.isCancelled) == [true], "the decode is given up")
        stack.hire(.download)
        #expect(stack.held(.fetch).count == 1)
        stack.finish(decode, stack.success(decode))
        stack.end(token)
    }

    @Test mutating func lostPixelsAreMadeAgainOfTheBytesThatAreThere() {
        let token = stack.load(.loader(size: 5))
        stack.run(.fetch, .decode)
        stack.replace(.decode)
        #expect(stack.held(.fetch).isEmpty, "the body waits for its store and is still there")
        stack.finish(.decode)
        stack.end(token, fetches: 1)
    }

    @Test mutating func lostPixelsAreMadeAgainOfTheStoredOriginal() {
        let token = stack.load(.image(size: 5))
        stack.run(.query, .query, .fetch, .decode, .store)
        stack.replace(.decode)
        stack.finish(.query)
        stack.find()
        stack.end(token)
        #expect(stack.counters.fetches == 1, "stored bytes aren't fetched again")
    }

    @Test mutating func aLostResultIsMadeAgain() {
        let token = stack.load(.image(size: 5))
        stack.run(.query, .query, .fetch, .decode, .transform)
        stack.replace(.transform)
        stack.end(token)
        #expect(stack.replies[token]?.count == 1)
    }

    @Test mutating func whatIsLostTenTimesEndsWithWorkerLost() {
        stack = Stack(.cache, .download)
        let token = stack.load(ImageRequest.loader(size: 5).discardingOriginal)
        for _ in 1...10 {
            #expect(stack.reply(token) == nil)
            stack.finish(.fetch)
            let decoder = stack.hire(.decode)
            stack.finish(.decode)
            stack.kill(decoder)
        }
        #expect(stack.error(token) == .workerLost)
        stack.end()
    }

    @Test mutating func queriesWaitForTheCacheToComeBack() {
        let token = stack.load(.image())
        stack.kill(stack.worker(.cache))
        stack.pass(milliseconds: 200)
        #expect(stack.reply(token) == nil)
        stack.hire(.cache)
        let query = stack.held(.query)[0]
        #expect(query.job.attempt == 2)
        stack.finish(query, stack.hit(query))
        stack.expectRest([token])
    }

    @Test mutating func deliveriesWaitForTheCacheToComeBackOrForTheDeadline() {
        func image(_ milliseconds: Int) -> ImageRequest {
            ImageRequest.loader().with {
                $0.timeoutMilliseconds = milliseconds
            }
        }
        let hasty = stack.load(image(100))
        let patient = stack.load(image(900))
        stack.run(.fetch, .decode)
        stack.kill(stack.worker(.cache))
        stack.pass(milliseconds: 100)
        #expect(stack.error(hasty) == .deadlineExceeded)
        stack.hire(.cache)
        stack.finish(.store)
        stack.expectRest([patient])
    }

    @Test mutating func anOriginalThatTheCacheHadStagedIsLookedForAgain() {
        let token = stack.load(.image(size: 5))
        stack.finish(.query)
        stack.find()
        stack.kill(stack.worker(.cache))
        #expect(stack.allHeld.map(\.isCancelled) == [true])
        stack.hire(.cache)
        stack.run(.query, .query, .fetch)
        stack.end(token)
    }

    @Test mutating func anImageWhoseReplyHadNotGoneOutIsMadeAgain() {
        let token = stack.load(.loader(size: 5, .waitStoreCache))
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

struct LostInputTests {
    private var stack = Stack.staffed()
    private let image = ImageRequest.loader(size: 5).with {
        $0.originalStoreCacheTypes = .none
    }

    @Test mutating func theCacheIsBelievedAndTheProducerLosesItsSession() {
        let token = stack.load(image)
        stack.run(.fetch, .decode, .transform)
        let liar = stack.worker(.transform)
        stack.fail(.store, .stale)
        #expect(stack.gone == [liar])
        #expect(stack.reply(token) == nil)
        stack.hire(.transform)
        stack.end(token)
    }

    /// The coordinator knows the content of its own arena.
    @Test mutating func withAnUploadNobodyIsBelieved() {
        let token = stack.upload("x")
        stack.run(.query)
        stack.fail(.decode, .stale)
        stack.run(.decode)
        stack.fail(.store, .stale)
        #expect(stack.expelled.isEmpty)
        stack.finishAll()
        #expect(stack.image(token) != nil)
        let next = stack.upload("y")
        stack.end(next)
    }

    /// A decoder that reports missing bytes, and the cache that was asked to verify it.
    private mutating func disputedDecode() -> Token {
        stack = Stack.staffed()
        let token = stack.load(image)
        stack.finish(.fetch)
        stack.fail(.decode, .stale)
        return token
    }

    @Test mutating func ofADecoderTheCacheIsAskedWhetherItIsTrue() {
        let token = disputedDecode()
        #expect(stack.expelled.isEmpty)
        #expect(stack.held(.store).count == 1)
        #expect(stack.held(.decode).isEmpty)
        #expect(stack.reply(token) == nil)
    }

    @Test mutating func whereItIsTrueTheProducerLosesItsSession() {
        let token = disputedDecode()
        let producer = stack.worker(.download)
        stack.fail(.store, .stale)
        #expect(stack.gone == [producer])
        stack.hire(.download)
        stack.end(token, fetches: 2)
    }

    @Test mutating func whereItIsNotTheReaderLosesItsSession() {
        let token = disputedDecode()
        let reader = stack.worker(.decode)
        stack.finish(.store)
        #expect(stack.gone == [reader])
        stack.hire(.decode)
        stack.end(token, fetches: 1)
    }

    @Test mutating func whoeverDiesMeanwhileIsNotAccused() {
        for kind in [WorkerKind.download, .decode, .cache] {
            let token = disputedDecode()
            stack.replace(kind)
            stack.finishAll()
            let isJudged = kind == .cache
            #expect(stack.expelled.count == (isJudged ? 1 : 0), "the next cache decides")
            if isJudged { stack.hire(.decode) }
            stack.finishAll()
            #expect(stack.image(token) != nil, "\(kind)")
            #expect(stack.isAtRest, "\(kind)")
        }
    }

    @Test mutating func aDisputeEndsWithItsRequest() {
        let token = disputedDecode()
        stack.send(.cancelAny(token))
        #expect(stack.error(token) == .cancelled)
        stack.end()
    }
}
