import ImageModel
import Messages
import Testing

@testable import Scheduling

/// A client wants something more or less badly than it said.
struct ReprioritiseTests {
    private func loader(_ name: String, _ options: RequestOptions = []) -> ImageRequest {
        .picture(name, size: 3, options.union(.fromLoaderOnly))
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
        stack.send(.reprioritise(client, tokens[0], .high))
        #expect(stack.held(.fetch).map(\.priority) == [.high])
        stack.send(.reprioritise(client, tokens[2], .high))
        stack.finish(.fetch)
        #expect(stack.held(.fetch).map(name) == ["c"])
        #expect(stack.scheduler.audit() == [])
        stack.hireAll()
        stack.finishAll()
        #expect(stack.isAtRest)
    }

    @Test func sharedWorkKeepsTheHighestClassAmongThoseWhoWait() {
        var stack = Stack()
        stack.hire(.download)
        let (first, second) = (stack.connect(), stack.connect())
        let high = stack.load(loader("a", .highPriority), by: first)
        stack.load(loader("a"), by: second)
        stack.send(.reprioritise(first, high, .low))
        #expect(stack.held(.fetch).map(\.priority) == [.normal])
        #expect(stack.scheduler.audit() == [])
    }

    @Test func theClassLastsForLaterStages() {
        var stack = Stack()
        stack.hireAll()
        let client = stack.connect()
        let token = stack.load(loader("a", .lowPriority), by: client)
        stack.send(.reprioritise(client, token, .high))
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
        stack.send(.reprioritiseGroup(client, group, .high))
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

    @Test func queriesMoveAndUnknownTokensAndThoseOfOthersAreIgnored() {
        var stack = Stack()
        let (client, other) = (stack.connect(), stack.connect())
        let token = stack.load(.picture("a"), by: client)
        stack.send(.reprioritise(other, token, .high))
        stack.send(.reprioritise(client, Token(Identifier128(high: 5, low: 5)), .high))
        stack.send(.reprioritiseGroup(client, GroupID(Identifier128(high: 5, low: 5)), .high))
        #expect(stack.actions == [])
        stack.send(.reprioritise(client, token, .low))
        stack.hire(.cache)
        #expect(stack.held(.query).map(\.priority) == [.low])
        stack.hireAll()
        stack.finishAll()
        stack.send(.reprioritise(client, token, .high))
        #expect(stack.actions == [], "it has its reply")
        #expect(stack.isAtRest)
    }
}
