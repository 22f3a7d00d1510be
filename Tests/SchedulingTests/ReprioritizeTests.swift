import Model
import Testing

@testable import Coordinator

/// A client changes the priority of a load.
struct ReprioritizeTests {
    private func loader(_ name: String, _ options: RequestOptions = []) -> ImageRequest {
        .image(name, size: 3, options.union(.fromLoaderOnly))
    }

    private func name(_ held: Stack.Held) -> String {
        guard case .fetch(let work) = held.job.work else { return "" }
        return String(work.url.dropFirst("http://example.org/".count).prefix(1))
    }

    @Test func whatWaitsMovesAndWhatRunsIsTold() {
        var stack = Stack()
        stack.hire(.download)
        let client = stack.connect()
        let tokens = ["a", "b", "c"].map { stack.load(loader($0), by: client) }
        stack.send(.reprioritize(client, tokens[0], .high))
        #expect(stack.held(.fetch).map(\.priority) == [.high])
        stack.send(.reprioritize(client, tokens[2], .high))
        stack.finish(.fetch)
        #expect(stack.held(.fetch).map(name) == ["c"])
        #expect(stack.scheduler.audit() == [])
        stack.hireAll()
        stack.finishAll()
        #expect(stack.isAtRest)
    }

    @Test func aWaitingLoadThatChangesItsClassKeepsItsPlaceInIt() {
        var stack = Stack()
        let client = stack.connect()
        let tokens = ["a", "b", "c"].map { stack.load(loader($0), by: client) }
        for priority in [Priority.high, .normal] {
            stack.send(.reprioritize(client, tokens[0], priority))
        }
        stack.hire(.download)
        var order: [String] = []
        while let held = stack.held(.fetch).first {
            order.append(name(held))
            stack.finish(held, .failed(ImageError(.invalidDownloadContentType, "as told")))
        }
        #expect(order == ["a", "b", "c"])
        #expect(stack.isAtRest)
    }

    @Test func sharedWorkKeepsTheHighestClassAmongThoseWhoWait() {
        var stack = Stack()
        stack.hire(.download)
        let (first, second) = (stack.connect(), stack.connect())
        let high = stack.load(loader("a", .highPriority), by: first)
        stack.load(loader("a"), by: second)
        stack.send(.reprioritize(first, high, .low))
        #expect(stack.held(.fetch).map(\.priority) == [.normal])
        #expect(stack.scheduler.audit() == [])
    }

    @Test func theClassLastsForLaterStages() {
        var stack = Stack()
        stack.hireAll()
        let client = stack.connect()
        let token = stack.load(loader("a", .lowPriority), by: client)
        stack.send(.reprioritize(client, token, .high))
        stack.finish(.fetch)
        #expect(stack.held(.decode).map(\.priority) == [.high])
        stack.finish(.decode)
        #expect(stack.held(.transform).map(\.priority) == [.high])
    }

    @Test func aGroupMovesAndLaterMembersDoNot() {
        var stack = Stack()
        let client = stack.connect()
        let group = GroupID(Identifier128(high: 3, low: 1))
        stack.load(loader("a"), by: client)
        for name in ["b", "c"] { stack.load(loader(name), by: client, group: group) }
        stack.send(.reprioritizeGroup(client, group, .high))
        stack.load(loader("d"), by: client, group: group)
        stack.hire(.download)
        var order: [String] = []
        while let held = stack.held(.fetch).first {
            order.append(name(held))
            stack.finish(held, .failed(ImageError(.invalidDownloadContentType, "as told")))
        }
        #expect(order == ["b", "c", "a", "d"])
        #expect(stack.isAtRest)
    }

    // MARK: - Large groups

    private let large = GroupID(Identifier128(high: 3, low: 2))

    /// A stack in which twenty members of one group wait, and four are processed per event.
    private func withLargeGroup(_ body: (inout Stack, ClientID, [Token]) -> Void) {
        var stack = Stack { $0.batchStepsMax = 4 }
        let client = stack.connect()
        let tokens = (0..<20).map { stack.load(loader("\($0)"), by: client, group: large) }
        body(&stack, client, tokens)
        stack.goOn()
        let spins = stack.scheduler.nextDeadline.map { $0 <= stack.now } ?? false
        #expect(!spins, "no busy loop")
        #expect(stack.scheduler.audit() == [])
    }

    private func priorities(_ stack: Stack, _ tokens: [Token]) -> [Priority] {
        tokens.compactMap { token in
            stack.scheduler.tokens[token].map { stack.scheduler.requests[$0].priority }
        }
    }

    @Test func aLargeGroupMovesAFewAtATime() {
        withLargeGroup { stack, client, tokens in
            stack.send(.reprioritizeGroup(client, large, .high))
            #expect(priorities(stack, tokens).count { $0 == .high } == 4)
            #expect(stack.scheduler.nextDeadline == stack.now, "it continues at once")
            let later = stack.load(loader("later"), by: client, group: large)
            for _ in 0..<4 { stack.send(.tick) }
            #expect(priorities(stack, tokens).allSatisfy { $0 == .high })
            #expect(priorities(stack, [later]) == [.normal])
        }
    }

    @Test func theNewestWishCountsForAGroupAndForOneOfIt() {
        withLargeGroup { stack, client, tokens in
            stack.send(.reprioritizeGroup(client, large, .high))
            stack.send(.reprioritizeGroup(client, large, .low))
            stack.send(.reprioritize(client, tokens[19], .normal))
            #expect(
                stack.scheduler.pendingTransitions.batchOperations.count == 1,
                "the first one has ended")
            for _ in 0..<5 { stack.send(.tick) }
            let expected = Array(repeating: Priority.low, count: 19) + [.normal]
            #expect(priorities(stack, tokens) == expected)
            stack.send(.reprioritizeGroup(client, large, .low))
            for _ in 0..<5 { stack.send(.tick) }
            #expect(priorities(stack, tokens).allSatisfy { $0 == .low })
        }
    }

    @Test func whatIsSaidAgainOfTheSameMembersChangesNothing() {
        withLargeGroup { stack, client, tokens in
            for _ in 0..<6 { stack.send(.reprioritizeGroup(client, large, .high)) }
            #expect(priorities(stack, tokens).allSatisfy { $0 == .high })
            stack.send(.reprioritizeGroup(client, large, .high))
            #expect(stack.scheduler.pendingTransitions.batchOperations.count == 0)
            let later = stack.load(loader("later"), by: client, group: large)
            stack.send(.reprioritizeGroup(client, large, .high))
            for _ in 0..<6 { stack.send(.tick) }
            #expect(priorities(stack, [later]) == [.high])
        }
    }

    @Test func aLargeGroupIsCancelledAFewAtATime() {
        withLargeGroup { stack, client, tokens in
            stack.send(.reprioritizeGroup(client, large, .high))
            stack.send(.cancelGroup(client, large))
            #expect(priorities(stack, tokens).count == 16)
            #expect(
                stack.scheduler.pendingTransitions.batchOperations.count == 1,
                "no other priority is needed")
            #expect(stack.scheduler.nextDeadline == stack.now, "it continues at once")
            let later = stack.load(loader("later"), by: client, group: large)
            stack.send(.cancelGroupOfAny(large))
            stack.send(.reprioritizeGroup(client, large, .low))
            for _ in 0..<8 { stack.send(.tick) }
            #expect(priorities(stack, tokens) == [])
            #expect(priorities(stack, [later]) == [], "an operator means whomever")
        }
    }

    @Test func whoLeavesTakesItsWishesAlong() {
        withLargeGroup { stack, client, tokens in
            stack.send(.reprioritizeGroup(client, large, .high))
            stack.send(.cancel(client, tokens[10]))
            stack.disconnect(client)
            #expect(
                stack.scheduler.pendingTransitions.batchOperations.count == 1,
                "its requests are left")
            stack.goOn()
            #expect(stack.isAtRest)
        }
    }

    @Test func queriesMoveAndUnknownTokensAndThoseOfOthersAreIgnored() {
        var stack = Stack()
        let (client, other) = (stack.connect(), stack.connect())
        let token = stack.load(.image("a"), by: client)
        stack.send(.reprioritize(other, token, .high))
        stack.send(.reprioritize(client, Token(Identifier128(high: 5, low: 5)), .high))
        stack.send(.reprioritizeGroup(client, GroupID(Identifier128(high: 5, low: 5)), .high))
        #expect(stack.actions == [])
        #expect(priorities(stack, [token]) == [.normal])
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
