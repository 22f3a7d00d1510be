import Model
import Testing

@testable import Coordinator

struct DispatchTests {
    private func fetches(_ stack: Stack) -> [String] {
        stack.held(.fetch).compactMap {
            guard case .fetch(let work) = $0.job.work else { return nil }
            return String(work.url.dropFirst("http://example.org/".count).prefix(1))
        }
    }

    @Test func aWorkerGetsNoMoreThanItsCreditAndMoreWhenItGrows() {
        var stack = Stack()
        let worker = stack.hire(.download, credit: 2)
        let client = stack.connect()
        for name in ["a", "b", "c", "d"] {
            stack.load(.image(name, size: nil, .fromLoaderOnly), by: client)
        }
        #expect(fetches(stack) == ["a", "b"])
        stack.workers[worker]?.window += 1
        stack.send(.credit(worker, 1))
        #expect(fetches(stack) == ["a", "b", "c"])
        stack.finish(stack.held(.fetch)[0])
        #expect(fetches(stack) == ["b", "c", "d"], "an outcome frees its slot")
        #expect(stack.live.first?.jobs == 3)
        #expect(stack.scheduler.dispatcher.waiting(in: .decode).jobs == 1)
        #expect(stack.faults == [])
    }

    @Test(arguments: WorkerKind.workers)
    func noClaimIsMoreThanTheKindTakes(_ kind: WorkerKind) {
        var stack = Stack { $0.dispatch.creditMax = DispatchLimits().creditMax }
        let worker = WorkerID(77)
        let incarnation = Incarnation(Identifier128(high: 7, low: 77))
        stack.send(
            .workerJoined(worker, kind: kind, incarnation: incarnation, credit: 1_000_000))
        func window() -> Int? {
            stack.scheduler.dispatcher.roster[worker]?.window
        }
        #expect(window() == Int(kind.creditMax))
        stack.send(.credit(worker, .max))
        #expect(window() == Int(kind.creditMax))
    }

    @Test func higherClassesGoFirstAndEqualsInOrderOfArrival() {
        var stack = Stack()
        let client = stack.connect()
        for (name, option) in [
            ("a", RequestOptions.lowPriority), ("b", []), ("c", .highPriority), ("d", []),
            ("e", .highPriority), ("f", [.highPriority, .lowPriority]),
        ] {
            stack.load(.image(name, size: nil, [.fromLoaderOnly, option]), by: client)
        }
        stack.hire(.download)
        var order: [String] = []
        while let next = stack.held(.fetch).first {
            order += fetches(stack)
            stack.finish(next)
        }
        #expect(order == ["c", "e", "f", "b", "d", "a"])
        #expect(stack.faults == [])
    }

    @Test func whatEndsARequestComesBeforeWhatBeginsOne() {
        var stack = Stack()
        for kind in [WorkerKind.download, .decode, .transform] { stack.hire(kind, credit: 4) }
        let client = stack.connect()
        stack.load(.image("b"), by: client)
        stack.load(.image("a", size: 5, .fromLoaderOnly), by: client)
        stack.run(.fetch, .decode, .transform)
        stack.hire(.cache)
        var order: [String] = []
        while let next = stack.held(.store).first ?? stack.held(.query).first {
            switch next.job.work {
            case .store(let work): order.append(work.delivers ? "deliver" : "store original")
            default: order.append("query")
            }
            stack.finish(next)
        }
        #expect(order == ["deliver", "store original", "query"])
    }

    @Test func theWorkerWithTheMostRoomIsChosenAndEqualsTakeTurns() {
        var stack = Stack()
        let small = stack.hire(.download, credit: 1)
        let large = stack.hire(.download, credit: 3)
        for name in ["a", "b", "c", "d"] {
            stack.load(.image(name, size: nil, .fromLoaderOnly), by: stack.connect())
        }
        #expect(stack.held(.fetch).map(\.worker) == [large, large, small, large])
        #expect(stack.faults == [])
    }

    @Test func aDrainingWorkerGetsNothingNew() {
        var stack = Stack()
        let first = stack.hire(.download, credit: 4)
        let client = stack.connect()
        stack.load(.image("a", size: nil, .fromLoaderOnly), by: client)
        stack.send(.workerDraining(first))
        stack.load(.image("b", size: nil, .fromLoaderOnly), by: client)
        #expect(fetches(stack) == ["a"])
        let second = stack.hire(.download)
        #expect(stack.held(.fetch).last?.worker == second)
        #expect(stack.live.first?.isDraining == true)
        #expect(stack.faults == [])
    }

    @Test func aSecondCacheIsRefused() {
        var stack = Stack()
        stack.hire(.cache)
        let second = stack.hire(.cache)
        #expect(stack.expelled.map(\.0) == [second])
        #expect(stack.live.count == 1)
    }

    @Test func jobsCarryTheTimeThatIsLeftAndNoMoreThanTheStagePermits() {
        var stack = Stack { $0.dispatch.jobMilliseconds.decode = 700 }
        stack.hire(.download)
        let client = stack.connect()
        stack.load(.image("a", size: 5, .fromLoaderOnly), by: client)
        #expect(stack.held(.fetch)[0].job.millisecondsLeft == 30_000)
        stack.now = stack.now.adding(milliseconds: 1_000)
        stack.finish(.fetch)
        stack.hire(.decode)
        #expect(stack.held(.decode)[0].job.millisecondsLeft == 700)
        stack.load(.image("b", size: 5, .fromLoaderOnly), by: client)
        #expect(stack.held(.fetch)[0].job.millisecondsLeft == 30_000)
        #expect(stack.faults == [])
    }

    @Test func aWorkerThatOverstaysIsToldToStopAndThenLosesItsSession() {
        var stack = Stack {
            $0.dispatch.jobMilliseconds.fetch = 1_000
            $0.dispatch.sharedSilenceMilliseconds = 1_500
            $0.dispatch.attemptsMax = 2
        }
        let first = stack.hire(.download)
        let client = stack.connect()
        let token = stack.load(.image("a", size: nil, .fromLoaderOnly), by: client)
        stack.pass(milliseconds: 1_499)
        #expect(stack.allHeld[0].isCancelled == false)
        stack.pass(milliseconds: 1)
        #expect(stack.allHeld[0].isCancelled)
        stack.pass(milliseconds: 1_499)
        #expect(stack.expelled.isEmpty)
        let second = stack.hire(.download)
        stack.pass(milliseconds: 1)
        #expect(stack.expelled.map(\.0) == [first])
        #expect(stack.held(.fetch).map(\.worker) == [second], "another worker tries")
        #expect(stack.held(.fetch).first?.job.attempt == 2)
        // This worker responds to the cancel.
        stack.pass(milliseconds: 1_500)
        let late = stack.allHeld[0]
        stack.finish(late, .failed(ImageError(.cancelled, "stopped")))
        #expect(stack.error(token) == .deadlineExceeded)
        #expect(stack.isAtRest)
    }

    @Test func nextDeadlineIsThatOfTheFirstWhoWaits() {
        var stack = Stack()
        let client = stack.connect()
        #expect(stack.scheduler.nextDeadline == nil)
        func image(_ name: String, _ milliseconds: Int) -> ImageRequest {
            .image(name).with { $0.timeoutMilliseconds = milliseconds }
        }
        stack.load(image("a", 500), by: client)
        let first = stack.load(image("b", 200), by: client)
        #expect(stack.scheduler.nextDeadline == stack.now.adding(milliseconds: 200))
        stack.send(.cancel(client, first))
        #expect(stack.scheduler.nextDeadline == stack.now.adding(milliseconds: 500))
        stack.pass(milliseconds: 500)
        #expect(stack.scheduler.nextDeadline == nil)
        #expect(stack.isAtRest)
    }
}
