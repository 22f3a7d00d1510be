import Model
import Testing

@testable import Coordinator

/// A result made from an animation is a single image of it, and is marked as such.
struct StillTests {
    private let animation = ImageInfo(
        format: .gif, size: PixelSize(width: 40, height: 30), pages: 12)

    /// The decoder finds an animation, and decodes its first frame.
    private func decode(_ stack: inout Stack, _ info: ImageInfo? = nil) throws {
        let held = try #require(stack.held(.decode).first)
        guard case .decode(let work) = held.job.work else { return }
        var image = stack.decoded(work.need, by: held.worker)
        image.info = info ?? animation
        stack.finish(held, .decoded(image))
    }

    private func stored(_ stack: Stack) -> [ImageInfo] {
        stack.held(.store).compactMap { held in
            guard case .store(let work) = held.job.work else { return nil }
            return work.metadata.info
        }
    }

    @Test func aResultSaysHowManyFramesItsSourceHas() throws {
        var (stack, client) = Stack.staffed()
        let image = ImageRequest.image("a", size: 5, .fromLoaderOnly)
            .with { $0.originalStoreCacheTypes = .none }
        let token = stack.load(image, by: client)
        stack.finish(.fetch)
        try decode(&stack)
        stack.finish(.transform)
        #expect(stored(stack).map(\.stillOf) == [12], "later hits are marked as well")
        #expect(stored(stack).map(\.pages) == [1])
        stack.finishAll()
        #expect(stack.image(token)?.info.stillOf == 12)
        #expect(stack.isAtRest, "\(stack)")
    }

    @Test func theAnimationItselfIsNoStill() throws {
        var (stack, client) = Stack.staffed()
        let token = stack.load(.image("a", .fromLoaderOnly), by: client)
        stack.finish(.fetch)
        try decode(&stack)
        stack.finishAll()
        #expect(stack.image(token)?.info == animation)
    }

    /// A transformer's claim about it is ignored.
    @Test func whatIsMadeOfASingleImageIsNoStill() throws {
        var (stack, client) = Stack.staffed()
        let token = stack.load(.image("a", size: 5, .fromLoaderOnly), by: client)
        stack.run(.fetch, .decode)
        let held = try #require(stack.held(.transform).first)
        guard case .transformed(var image) = stack.success(held) else { return }
        image.info.stillOf = 7
        stack.finish(held, .transformed(image))
        stack.finishAll()
        let delivered = try #require(stack.image(token))
        #expect(delivered.info.stillOf == nil)
    }

    @Test func aDecoderThatCallsASourceAStillIsNotBelieved() throws {
        var (stack, client) = Stack.staffed()
        stack.load(.image("a", size: 5, .fromLoaderOnly), by: client)
        stack.finish(.fetch)
        var forged = animation
        forged.stillOf = 40
        let decoder = stack.worker(.decode)
        try decode(&stack, forged)
        #expect(stack.expelled.map(\.0) == [decoder])
    }

    @Test func anEncodingForTheDiskIsMarkedToo() throws {
        var (stack, client) = Stack.staffed()
        let image = ImageRequest.image("a", size: 5, .fromLoaderOnly).with {
            $0.context.serializer = .transcode(.webp, quality: 70)
            $0.originalStoreCacheTypes = .none
        }
        stack.load(image, by: client)
        stack.finish(.fetch)
        try decode(&stack)
        stack.finish(stack.held(.transform)[0])
        while let held = stack.held(.transform).first { stack.finish(held) }
        #expect(stored(stack).count == 2)
        #expect(stored(stack).allSatisfy { $0.stillOf == 12 }, "\(stored(stack))")
    }
}
