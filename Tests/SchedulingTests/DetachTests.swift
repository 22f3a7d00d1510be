import Model
import Testing

@testable import Coordinator

struct DetachTests {
    private let image = ImageRequest.image("a", size: 5, .fromLoaderOnly)

    @Test func whatWasDetachedGoesOnWithoutItsClient() {
        var stack = Stack()
        stack.hireAll()
        let client = stack.connect()
        let token = stack.load(image, by: client, detach: true)
        stack.load(.image("b", size: 5, .fromLoaderOnly), by: client)
        stack.disconnect(client)
        #expect(stack.held(.fetch).map(\.job.id.value) == [1], "only this one")
        stack.finishAll()
        #expect(stack.image(token) != nil)
        #expect(stack.isAtRest)
    }

    @Test func theNextSessionOfTheSameClientAttachesToIt() {
        var stack = Stack()
        stack.hireAll()
        let client = stack.connect()
        let token = stack.load(image, by: client, detach: true)
        stack.disconnect(client)
        let again = stack.connect(again: client)
        stack.load(image, by: again, token: token, detach: true)
        stack.finishAll()
        #expect(stack.image(token) != nil)
        #expect(stack.counters.fetches == 1)
        #expect(stack.isAtRest)
    }

    @Test func anotherClientDoesNot() {
        var stack = Stack()
        stack.hireAll()
        let client = stack.connect()
        let token = stack.load(image, by: client, detach: true)
        stack.disconnect(client)
        stack.load(image, by: stack.connect(), token: token)
        #expect(stack.error(token) == .tokenInUse)
        stack.finishAll()
        #expect(stack.isAtRest)
    }

    @Test func aLargeResultIsNotKeptForAClientThatIsGone() {
        var stack = Stack()
        stack.hireAll()
        let client = stack.connect()
        stack.load(image, by: client, detach: true)
        stack.disconnect(client)
        stack.run(.fetch, .decode)
        let transform = stack.held(.transform)[0]
        stack.finish(transform, stack.success(transform, length: 2 << 20))
        stack.finishAll()
        #expect(!stack.scheduler.hits.blocks.hasDeliveries)
        #expect(stack.isAtRest)
    }

    @Test func anOperatorCancelsWhosever() {
        var stack = Stack()
        stack.hireAll()
        let client = stack.connect()
        let token = stack.load(image, by: client)
        let group = GroupID(Identifier128(high: 4, low: 4))
        let member = stack.load(.image("b", size: 5, .fromLoaderOnly), by: client, group: group)
        stack.send(.cancelAny(token))
        #expect(stack.error(token) == .cancelled)
        #expect(stack.reply(member) == nil)
        stack.send(.cancelGroupOfAny(group))
        #expect(stack.error(member) == .cancelled)
        stack.finishAll()
        #expect(stack.isAtRest)
    }
}
