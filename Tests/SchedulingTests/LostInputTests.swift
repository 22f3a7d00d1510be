import ImageModel
import Messages
import Testing

@testable import Scheduling

struct LostInputTests {
    private let image = ImageRequest.picture("a", size: 5, .fromLoaderOnly).with {
        $0.originalStoreCacheTypes = .none
    }

    @Test func theCacheIsBelievedAndTheProducerLosesItsSession() {
        var stack = Stack()
        stack.hireAll()
        let token = stack.load(image, by: stack.connect())
        stack.run(.fetch, .decode, .transform)
        let liar = stack.worker(.transform)
        stack.fail(.store, .stale)
        #expect(stack.expelled.map(\.0) == [liar])
        #expect(stack.reply(token) == nil)
        stack.hire(.transform)
        stack.finishAll()
        #expect(stack.image(token) != nil)
        #expect(stack.isAtRest)
    }

    @Test func aDecoderIsNotBelievedAndTheBytesAreFetchedAgain() {
        var stack = Stack()
        stack.hireAll()
        let token = stack.load(image, by: stack.connect())
        stack.finish(.fetch)
        stack.fail(.decode, .stale)
        #expect(stack.expelled.isEmpty)
        #expect(stack.counters.fetches == 2)
        stack.finishAll()
        #expect(stack.image(token) != nil)
        #expect(stack.isAtRest)
    }

    @Test func aTransformerThatAlwaysSaysSoEndsTheRequest() {
        var stack = Stack()
        stack.hireAll()
        let token = stack.load(image, by: stack.connect())
        for _ in 0..<10 {
            stack.run(.fetch, .decode)
            stack.fail(.transform, .stale)
        }
        #expect(stack.error(token) == .workerLost)
        #expect(stack.isAtRest)
    }
}
