import Model
import Testing

@testable import Coordinator

struct LostInputTests {
    private let image = ImageRequest.image("a", size: 5, .fromLoaderOnly).with {
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

    /// The coordinator knows the content of its own arena.
    @Test func withAnUploadNobodyIsBelieved() {
        var stack = Stack()
        stack.hireAll()
        let client = stack.connect()
        let token = stack.upload("x", by: client)
        stack.run(.query)
        stack.fail(.decode, .stale)
        stack.run(.decode)
        stack.fail(.store, .stale)
        #expect(stack.expelled.isEmpty)
        stack.finishAll()
        #expect(stack.image(token) != nil)
        let next = stack.upload("y", by: client)
        stack.finishAll()
        #expect(stack.image(next) != nil)
        #expect(stack.isAtRest)
    }

    /// A decoder that reports missing bytes, and the cache that was asked to verify it.
    private func disputedDecode() -> (Stack, Token) {
        var stack = Stack()
        stack.hireAll()
        let token = stack.load(image, by: stack.connect())
        stack.finish(.fetch)
        stack.fail(.decode, .stale)
        return (stack, token)
    }

    @Test func ofADecoderTheCacheIsAskedWhetherItIsTrue() {
        let (stack, token) = disputedDecode()
        #expect(stack.expelled.isEmpty)
        #expect(stack.held(.store).count == 1)
        #expect(stack.held(.decode).isEmpty)
        #expect(stack.reply(token) == nil)
    }

    @Test func whereItIsTrueTheProducerLosesItsSession() {
        var (stack, token) = disputedDecode()
        let producer = stack.worker(.download)
        stack.fail(.store, .stale)
        #expect(stack.expelled.map(\.0) == [producer])
        stack.hire(.download)
        stack.finishAll()
        #expect(stack.counters.fetches == 2)
        #expect(stack.image(token) != nil)
        #expect(stack.isAtRest)
    }

    @Test func whereItIsNotTheReaderLosesItsSession() {
        var (stack, token) = disputedDecode()
        let reader = stack.worker(.decode)
        stack.finish(.store)
        #expect(stack.expelled.map(\.0) == [reader])
        stack.hire(.decode)
        stack.finishAll()
        #expect(stack.counters.fetches == 1)
        #expect(stack.image(token) != nil)
        #expect(stack.isAtRest)
    }

    @Test func whoeverDiesMeanwhileIsNotAccused() {
        for kind in [WorkerKind.download, .decode, .cache] {
            var (stack, token) = disputedDecode()
            stack.kill(stack.worker(kind))
            stack.hire(kind)
            stack.finishAll()
            let isJudged = kind == .cache
            #expect(stack.expelled.count == (isJudged ? 1 : 0), "the next cache decides")
            if isJudged { stack.hire(.decode) }
            stack.finishAll()
            #expect(stack.image(token) != nil, "\(kind)")
            #expect(stack.isAtRest, "\(kind)")
        }
    }

    @Test func aDisputeEndsWithItsRequest() {
        var (stack, token) = disputedDecode()
        stack.send(.cancelAny(token))
        #expect(stack.error(token) == .cancelled)
        stack.finishAll()
        #expect(stack.isAtRest)
    }
}
