import Model
import Testing

@testable import Coordinator

struct DispatchTests {
    private var stack = Stack()

    @Test mutating func aWorkerGetsNoMoreThanItsCreditAndMoreWhenItGrows() {
        let worker = stack.hire(.download, credit: 2)
        for name in ["a", "b", "c", "d"] { stack.load(.loader(name)) }
        #expect(stack.fetchNames == ["a", "b"])
        stack.workers[worker]?.window += 1
        stack.send(.credit(worker, 1))
        #expect(stack.fetchNames == ["a", "b", "c"])
        stack.finishFirst(.fetch)
        #expect(stack.fetchNames == ["b", "c", "d"], "an outcome frees its slot")
        #expect(stack.live.first?.jobs == 3)
        #expect(stack.scheduler.dispatcher.waiting(in: .decode).jobs == 1)
        #expect(stack.faults == [])
    }

    @Test(arguments: WorkerKind.workers)
    mutating func noClaimIsMoreThanTheKindTakes(_ kind: WorkerKind) {
        stack = Stack { $0.dispatch.creditMax = DispatchLimits().creditMax }
        let worker = WorkerID(77)
        let incarnation = Incarnation(Identifier128(high: 7, low: 77))
        stack.send(.workerJoined(worker, kind: kind, incarnation: incarnation, credit: 1_000_000))
        func window() -> Int? {
            stack.scheduler.dispatcher.roster[worker]?.window
        }
        #expect(window() == Int(kind.creditMax))
        stack.send(.credit(worker, .max))
        #expect(window() == Int(kind.creditMax))
    }

    @Test mutating func higherClassesGoFirstAndEqualsInOrderOfArrival() {
        for (name, option) in [
            ("a", RequestOptions.lowPriority), ("b", []), ("c", .highPriority), ("d", []),
            ("e", .highPriority), ("f", [.highPriority, .lowPriority]),
        ] {
            stack.load(.image(name, size: nil, [.fromLoaderOnly, option]))
        }
        stack.hire(.download)
        var order: [String] = []
        while let next = stack.held(.fetch).first {
            order += stack.fetchNames
            stack.finish(next)
        }
        #expect(order == ["c", "e", "f", "b", "d", "a"])
        #expect(stack.faults == [])
    }

    @Test mutating func whatEndsARequestComesBeforeWhatBeginsOne() {
        for kind in [WorkerKind.download, .decode, .transform] { stack.hire(kind, credit: 4) }
        stack.load(.image("b"))
        stack.load(.loader(size: 5))
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

    @Test mutating func theWorkerWithTheMostRoomIsChosenAndEqualsTakeTurns() {
        let small = stack.hire(.download, credit: 1)
        let large = stack.hire(.download, credit: 3)
        for name in ["a", "b", "c", "d"] { stack.load(.loader(name), by: stack.connect()) }
        #expect(stack.held(.fetch).map(\.worker) == [large, large, small, large])
        #expect(stack.faults == [])
    }

    @Test mutating func aDrainingWorkerGetsNothingNew() {
        let first = stack.hire(.download, credit: 4)
        stack.load(.loader())
        stack.send(.workerDraining(first))
        stack.load(.loader("b"))
        #expect(stack.fetchNames == ["a"])
        let second = stack.hire(.download)
        #expect(stack.held(.fetch).last?.worker == second)
        #expect(stack.live.first?.isDraining == true)
        #expect(stack.faults == [])
    }

    @Test mutating func aSecondCacheIsRefused() {
        stack = Stack(.cache)
        let second = stack.hire(.cache)
        #expect(stack.gone == [second])
        #expect(stack.live.count == 1)
    }

    @Test mutating func jobsCarryTheTimeThatIsLeftAndNoMoreThanTheStagePermits() {
        stack = Stack(.download) { $0.dispatch.jobMilliseconds.decode = 700 }
        stack.load(.loader(size: 5))
        #expect(stack.held(.fetch)[0].job.millisecondsLeft == 30_000)
        stack.wait(milliseconds: 1_000)
        stack.finish(.fetch)
        stack.hire(.decode)
        #expect(stack.held(.decode)[0].job.millisecondsLeft == 700)
        stack.load(.loader("b", size: 5))
        #expect(stack.held(.fetch)[0].job.millisecondsLeft == 30_000)
        #expect(stack.faults == [])
    }

    @Test mutating func aWorkerThatOverstaysIsToldToStopAndThenLosesItsSession() {
        stack = Stack {
            $0.dispatch.jobMilliseconds.fetch = 1_000
            $0.dispatch.sharedSilenceMilliseconds = 1_500
            $0.dispatch.attemptsMax = 2
        }
        let first = stack.hire(.download)
        let token = stack.load(.loader())
        stack.pass(milliseconds: 1_499)
        #expect(stack.allHeld[0].isCancelled == false)
        stack.pass(milliseconds: 1)
        #expect(stack.allHeld[0].isCancelled)
        stack.pass(milliseconds: 1_499)
        #expect(stack.expelled.isEmpty)
        let second = stack.hire(.download)
        stack.pass(milliseconds: 1)
        #expect(stack.gone == [first])
        #expect(stack.held(.fetch).map(\.worker) == [second], "another worker tries")
        #expect(stack.held(.fetch).first?.job.attempt == 2)
        // This worker responds to the cancel.
        stack.pass(milliseconds: 1_500)
        let late = stack.allHeld[0]
        stack.fail(late, .cancelled)
        #expect(stack.error(token) == .deadlineExceeded)
        #expect(stack.isAtRest)
    }

    @Test mutating func nextDeadlineIsThatOfTheFirstWhoWaits() {
        #expect(stack.scheduler.nextDeadline == nil)
        func image(_ name: String, _ milliseconds: Int) -> ImageRequest {
            .image(name).within(milliseconds: milliseconds)
        }
        stack.load(image("a", 500))
        let first = stack.load(image("b", 200))
        #expect(stack.scheduler.nextDeadline == stack.now.adding(milliseconds: 200))
        stack.cancel(first)
        #expect(stack.scheduler.nextDeadline == stack.now.adding(milliseconds: 500))
        stack.pass(milliseconds: 500)
        #expect(stack.scheduler.nextDeadline == nil)
        #expect(stack.isAtRest)
    }
}

extension Stack {
    /// Fails the first assigned transfer.
    fileprivate mutating func failFirst() {
        guard let first = held(.fetch).first else { return fault("no transfer is held") }
        finish(first, .failed(ImageError(.invalidDownloadContentType, "no image")))
    }
}

/// Limits and suspension of transfers (SEMANTICS §10.17, §10.18).
struct TransferGateTests {
    private var stack = Stack.staffed()

    private mutating func loading(loads count: Int, _ limit: Int?) {
        stack = Stack(.download, credit: 8)
        stack.send(.transfersMax(limit))
        for number in 0..<count { stack.load(.loader("a\(number)")) }
    }

    @Test mutating func noMoreRunThanTheConfigurationSays() {
        loading(loads: 6, 2)
        #expect(stack.held(.fetch).count == 2)
        stack.failFirst()
        #expect(stack.held(.fetch).count == 2, "the next one takes its slot")
        stack.send(.transfersMax(4))
        #expect(stack.held(.fetch).count == 4)
        stack.send(.transfersMax(1))
        #expect(stack.held(.fetch).count == 4, "running transfers continue")
        stack.failFirst()
        #expect(stack.held(.fetch).count == 3)
        stack.send(.transfersMax(nil))
        #expect(stack.held(.fetch).count == 4, "all that are left")
        #expect(stack.faults == [])
    }

    @Test mutating func suspendedTransfersWait() {
        loading(loads: 2, 1)
        stack.send(.downloads(.suspend))
        #expect(stack.scheduler.dispatcher.transfers.isSuspended)
        stack.failFirst()
        #expect(stack.held(.fetch).isEmpty)
        #expect(stack.scheduler.dispatcher.waiting(in: .fetch).jobs == 1)
        stack.send(.downloads(.resume))
        #expect(stack.held(.fetch).count == 1)
        #expect(!stack.scheduler.dispatcher.transfers.isSuspended)
        #expect(stack.faults == [])
    }

    /// The error of a load that waited states the reason; a running transfer isn't waiting.
    @Test mutating func aDeadlineSaysThatTransfersAreSuspended() throws {
        loading(loads: 2, 1)
        stack.send(.downloads(.suspend))
        stack.pass(milliseconds: 30_000)
        let messages = stack.replies.values.compactMap { replies -> String? in
            guard case .failure(let error)? = replies.last?.outcome else { return nil }
            return error.code == .deadlineExceeded ? error.message : nil
        }
        #expect(messages.count == 2)
        #expect(messages.count { $0.contains("imagebus downloads resume") } == 1)
    }
}

/// A client changes the priority of a load.
struct ReprioritizeTests {
    private var stack = Stack()

    private func loader(_ name: String, _ options: RequestOptions = []) -> ImageRequest {
        .image(name, size: 3, options.union(.fromLoaderOnly))
    }

    @Test mutating func whatWaitsMovesAndWhatRunsIsTold() {
        stack = Stack(.download)
        let tokens = ["a", "b", "c"].map { stack.load(loader($0)) }
        stack.reprioritize(tokens[0], .high)
        #expect(stack.held(.fetch).map(\.priority) == [.high])
        stack.reprioritize(tokens[2], .high)
        stack.finish(.fetch)
        #expect(stack.fetchNames == ["c"])
        #expect(stack.scheduler.audit() == [])
        stack.hireAll()
        stack.end()
    }

    @Test mutating func aWaitingLoadThatChangesItsClassKeepsItsPlaceInIt() {
        let tokens = ["a", "b", "c"].map { stack.load(loader($0)) }
        for priority in [Priority.high, .normal] { stack.reprioritize(tokens[0], priority) }
        stack.hire(.download)
        #expect(stack.fetchOrder() == ["a", "b", "c"])
    }

    @Test mutating func sharedWorkKeepsTheHighestClassAmongThoseWhoWait() {
        stack = Stack(.download)
        let (first, second) = (stack.connect(), stack.connect())
        let high = stack.load(loader("a", .highPriority), by: first)
        stack.load(loader("a"), by: second)
        stack.send(.reprioritize(first, high, .low))
        #expect(stack.held(.fetch).map(\.priority) == [.normal])
        #expect(stack.scheduler.audit() == [])
    }

    @Test mutating func theClassLastsForLaterStages() {
        stack = Stack.staffed()
        let token = stack.load(loader("a", .lowPriority))
        stack.reprioritize(token, .high)
        stack.finish(.fetch)
        #expect(stack.held(.decode).map(\.priority) == [.high])
        stack.finish(.decode)
        #expect(stack.held(.transform).map(\.priority) == [.high])
    }

    @Test mutating func aGroupMovesAndLaterMembersDoNot() {
        let group = GroupID(1)
        stack.load(loader("a"))
        for name in ["b", "c"] { stack.load(loader(name), group: group) }
        stack.send(.reprioritizeGroup(stack.client, group, .high))
        stack.load(loader("d"), group: group)
        stack.hire(.download)
        #expect(stack.fetchOrder() == ["b", "c", "a", "d"])
    }

    // MARK: - Large groups

    private let large = GroupID(Identifier128(high: 3, low: 2))

    /// A stack in which twenty members of one group wait, and four are processed per event.
    private mutating func loadLargeGroup() -> [Token] {
        stack = Stack { $0.batchStepsMax = 4 }
        return (0..<20).map { stack.load(loader("\($0)"), group: large) }
    }

    private mutating func expectRest() {
        stack.goOn()
        let spins = stack.scheduler.nextDeadline.map { $0 <= stack.now } ?? false
        #expect(!spins, "no busy loop")
        #expect(stack.scheduler.audit() == [])
    }

    /// How many operations on groups are under way.
    private var operations: Int { stack.scheduler.pendingTransitions.batchOperations.count }

    private func priorities(_ tokens: [Token]) -> [Priority] {
        tokens.compactMap { token in
            stack.scheduler.tokens[token].map { stack.scheduler.requests[$0].priority }
        }
    }

    @Test mutating func aLargeGroupMovesAFewAtATime() {
        let tokens = loadLargeGroup()
        stack.send(.reprioritizeGroup(stack.client, large, .high))
        #expect(priorities(tokens).count { $0 == .high } == 4)
        #expect(stack.scheduler.nextDeadline == stack.now, "it continues at once")
        let later = stack.load(loader("later"), group: large)
        for _ in 0..<4 { stack.send(.tick) }
        #expect(priorities(tokens).allSatisfy { $0 == .high })
        #expect(priorities([later]) == [.normal])
        expectRest()
    }

    @Test mutating func theNewestWishCountsForAGroupAndForOneOfIt() {
        let tokens = loadLargeGroup()
        stack.send(.reprioritizeGroup(stack.client, large, .high))
        stack.send(.reprioritizeGroup(stack.client, large, .low))
        stack.send(.reprioritize(stack.client, tokens[19], .normal))
        #expect(operations == 1, "the first one has ended")
        for _ in 0..<5 { stack.send(.tick) }
        let expected = Array(repeating: Priority.low, count: 19) + [.normal]
        #expect(priorities(tokens) == expected)
        stack.send(.reprioritizeGroup(stack.client, large, .low))
        for _ in 0..<5 { stack.send(.tick) }
        #expect(priorities(tokens).allSatisfy { $0 == .low })
        expectRest()
    }

    @Test mutating func whatIsSaidAgainOfTheSameMembersChangesNothing() {
        let tokens = loadLargeGroup()
        for _ in 0..<6 { stack.send(.reprioritizeGroup(stack.client, large, .high)) }
        #expect(priorities(tokens).allSatisfy { $0 == .high })
        stack.send(.reprioritizeGroup(stack.client, large, .high))
        #expect(operations == 0)
        let later = stack.load(loader("later"), group: large)
        stack.send(.reprioritizeGroup(stack.client, large, .high))
        for _ in 0..<6 { stack.send(.tick) }
        #expect(priorities([later]) == [.high])
        expectRest()
    }

    @Test mutating func aLargeGroupIsCancelledAFewAtATime() {
        let tokens = loadLargeGroup()
        stack.send(.reprioritizeGroup(stack.client, large, .high))
        stack.send(.cancelGroup(stack.client, large))
        #expect(priorities(tokens).count == 16)
        #expect(operations == 1, "no other priority is needed")
        #expect(stack.scheduler.nextDeadline == stack.now, "it continues at once")
        let later = stack.load(loader("later"), group: large)
        stack.send(.cancelGroupOfAny(large))
        stack.send(.reprioritizeGroup(stack.client, large, .low))
        for _ in 0..<8 { stack.send(.tick) }
        #expect(priorities(tokens) == [])
        #expect(priorities([later]) == [], "an operator means whomever")
        expectRest()
    }

    @Test mutating func whoLeavesTakesItsWishesAlong() {
        let tokens = loadLargeGroup()
        stack.send(.reprioritizeGroup(stack.client, large, .high))
        stack.send(.cancel(stack.client, tokens[10]))
        stack.disconnect(stack.client)
        #expect(operations == 1, "its requests are left")
        stack.goOn()
        #expect(stack.isAtRest)
        expectRest()
    }

    @Test mutating func queriesMoveAndUnknownTokensAndThoseOfOthersAreIgnored() {
        let (client, other) = (stack.connect(), stack.connect())
        let token = stack.load(.image(), by: client)
        stack.send(.reprioritize(other, token, .high))
        stack.send(.reprioritize(client, Token(5), .high))
        stack.send(.reprioritizeGroup(client, GroupID(5), .high))
        #expect(stack.actions == [])
        #expect(priorities([token]) == [.normal])
        stack.send(.reprioritize(client, token, .low))
        stack.hire(.cache)
        #expect(stack.held(.query).map(\.priority) == [.low])
        stack.hireAll()
        stack.finishAll()
        stack.send(.reprioritize(client, token, .high))
        #expect(stack.actions == [], "it has its reply")
        #expect(stack.isAtRest)
    }
}
