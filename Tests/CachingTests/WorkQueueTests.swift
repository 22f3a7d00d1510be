import Testing

@testable import Caching

/// When chores run between other requests, with a simulated clock.
@Suite struct WorkQueueTests {
    /// A queue whose chores begin with "chore". A class so that expectations can mutate it.
    private final class Queue {
        static var quiet: UInt64 { WorkQueue<String>.quiet }
        static var longest: UInt64 { WorkQueue<String>.longest }
        private var queue: WorkQueue<String>

        init(requestsMax: Int = 8) {
            queue = WorkQueue(requestsMax: requestsMax) { $0.hasPrefix("chore") }
        }

        func put(_ request: String, now: UInt64) -> Bool { queue.put(request, now: now) }
        func next(now: UInt64) -> WorkQueue<String>.Turn { queue.next(now: now) }
        func stop() { queue.isStopping = true }
    }

    @Test func requestsAreAnsweredInTheirOrder() {
        let queue = Queue()
        for name in ["a", "b", "c"] { #expect(queue.put(name, now: 0)) }
        #expect(queue.next(now: 0).answers == ["a", "b", "c"])
        #expect(queue.next(now: 0).waits == .some(nil))
    }

    @Test func aChoreOfAnIdleThreadBeginsAtOnce() {
        let queue = Queue()
        let now = Queue.quiet
        #expect(queue.put("chore", now: now))
        #expect(queue.next(now: now).answers == ["chore"])
    }

    @Test func aChoreWaitsUntilNothingElseIsAskedForAWhile() {
        let queue = Queue()
        let start = 100 * Queue.longest
        #expect(queue.put("chore", now: start))
        #expect(queue.put("read", now: start))
        #expect(queue.next(now: start).answers == ["read"])
        // It was answered a millisecond later; the wait counts from then.
        let idle = start + 1_000_000
        #expect(queue.next(now: idle).waits == 4)
        #expect(queue.next(now: idle + Queue.quiet - 1).waits == 1)
        #expect(queue.next(now: idle + Queue.quiet).answers == ["chore"])
    }

    @Test func readsOneAfterTheOtherHoldAChoreBackAndDoNotStarveIt() {
        let queue = Queue()
        var now = 100 * Queue.longest
        #expect(queue.put("chore", now: now))
        let begin = now
        var reads = 0
        while now < begin + Queue.longest {
            #expect(queue.put("read", now: now))
            #expect(queue.next(now: now).answers == ["read"])
            reads += 1
            now += 1_000_000
            if now < begin + Queue.longest { #expect(queue.next(now: now).answers == nil) }
        }
        #expect(reads == 16)
        #expect(queue.put("read", now: now))
        #expect(queue.next(now: now).answers == ["read", "chore"])
    }

    @Test func choresCountAmongThoseThatWait() {
        let queue = Queue(requestsMax: 2)
        #expect(queue.put("chore", now: 0))
        #expect(queue.put("read", now: 0))
        #expect(!queue.put("read", now: 0))
        #expect(!queue.put("chore", now: 0))
    }

    @Test func theEndWaitsForNoChoreAndLosesNone() {
        let queue = Queue()
        let now = 100 * Queue.longest
        #expect(queue.put("chore", now: now))
        #expect(queue.put("flush", now: now))
        queue.stop()
        #expect(!queue.put("late", now: now))
        #expect(queue.next(now: now).answers == ["flush", "chore"])
        guard case .end = queue.next(now: now) else {
            Issue.record("no end")
            return
        }
    }
}

extension WorkQueue.Turn {
    fileprivate var answers: [Request]? {
        if case .answer(let requests) = self { return requests }
        return nil
    }

    /// `nil` if it doesn't wait at all.
    fileprivate var waits: Int?? {
        if case .wait(let milliseconds) = self { return .some(milliseconds) }
        return nil
    }
}
