import Model
import Testing

@testable import Coordinator

/// Transformers and decoders that report impossible properties, and images that don't match theirs.
struct ForgedImageTests {
    private func loader(_ size: Int) -> ImageRequest {
        .image("a", size: size, .fromLoaderOnly).with { $0.originalStoreCacheTypes = .none }
    }

    /// A stack whose transformer has a job: 40 × 30 into a box of 20.
    private func transforming() -> (Stack, Token) {
        var (stack, client) = Stack.staffed()
        let token = stack.load(loader(20), by: client)
        stack.run(.fetch, .decode)
        return (stack, token)
    }

    private static let right = PixelSize(width: 20, height: 15)

    private static let huge = PixelSize(width: 4_294_967_295, height: 4_294_967_295)
    private static let wrong: [(ImageInfo, UInt64)] = [
        (ImageInfo(format: .jpeg, size: PixelSize(width: 20, height: 16)), 1_000),
        (ImageInfo(format: .jpeg, size: huge), 1_000),
        (ImageInfo(format: .png, size: right), 1_000),
        (ImageInfo(format: .jpeg, size: right, pages: 2), 1_000),
        (ImageInfo(format: .jpeg, size: right), 0),
    ]

    @Test(arguments: wrong)
    func aResultThatTheStepsDoNotMakeEndsTheSession(info: ImageInfo, length: UInt64) {
        var (stack, token) = transforming()
        let held = stack.held(.transform)[0]
        let reference = stack.block(of: held.worker, length: length)
        stack.finish(held, .transformed(EncodedImage(reference: reference, info: info)))
        #expect(stack.expelled.map(\.0) == [held.worker])
        stack.hire(.transform)
        stack.finishAll()
        #expect(stack.image(token)?.info.size == Self.right)
        #expect(stack.isAtRest)
    }

    @Test(arguments: [
        ImageInfo(format: .jpeg, size: PixelSize(width: 32_768, height: 1)),
        ImageInfo(format: .png, size: PixelSize(width: 32_000, height: 32_000)),
        ImageInfo(format: .jpeg, size: PixelSize(width: 320_000, height: 32_000)),
        ImageInfo(format: .jpeg, size: PixelSize(width: .max, height: .max)),
        ImageInfo(format: .gif, size: PixelSize(width: 30_000, height: 1), pages: 10_001),
    ])
    func factsBeyondTheLimitsOfTheJobEndTheSession(info: ImageInfo) {
        var (stack, client) = Stack.staffed()
        let token = stack.load(loader(20), by: client)
        stack.finish(.fetch)
        let held = stack.held(.decode)[0]
        let layout = PixelLayout(bands: .rgb, size: PixelSize(width: 2, height: 2), stride: 6)
        let reference = stack.block(of: held.worker, length: 12)
        stack.finish(
            held,
            .decoded(
                DecodedImage(info: info, frames: [.init(reference: reference, layout: layout)])))
        #expect(stack.expelled.map(\.0) == [held.worker])
        stack.hire(.decode)
        stack.finishAll()
        #expect(stack.image(token) != nil)
        #expect(stack.isAtRest)
    }

    /// Metadata is accepted only if it was requested.
    @Test(arguments: [true, false])
    func aProfileThatNobodyAskedForEndsTheSession(isAskedFor: Bool) {
        var (stack, client) = Stack.staffed()
        stack.load(loader(20).with { $0.output.keepsProfile = isAskedFor }, by: client)
        stack.finish(.fetch)
        let held = stack.held(.decode)[0]
        let size = PixelSize(width: 40, height: 30)
        var layout = PixelLayout(bands: .rgb, size: size, stride: 120)
        layout.embeddedMetadata = [EmbeddedMetadata(kind: .profile, offset: 3_600, length: 500)]
        let frame = DecodedImage.Frame(
            reference: stack.block(of: held.worker, length: 4_100), layout: layout)
        let image = DecodedImage(info: ImageInfo(format: .jpeg, size: size), frames: [frame])
        stack.finish(held, .decoded(image))
        #expect(stack.expelled.map(\.0) == (isAskedFor ? [] : [held.worker]))
    }

    @Test func anImageThatTheCacheFindsToBeAnotherIsMadeElsewhere() {
        var (stack, token) = transforming()
        let forger = stack.held(.transform)[0].worker
        stack.finish(.transform)
        stack.fail(.store, .badImageData)
        #expect(stack.expelled.map(\.0) == [forger])
        #expect(stack.replies[token] == nil)
        stack.hire(.transform)
        stack.finishAll()
        #expect(stack.image(token) != nil)
        #expect(stack.isAtRest)
    }

    @Test func theSecondSuchImageIsTheLastOne() {
        var (stack, token) = transforming()
        stack.finish(.transform)
        stack.fail(.store, .badImageData)
        stack.hire(.transform)
        stack.run(.fetch, .decode, .transform)
        stack.fail(.store, .badImageData)
        #expect(stack.error(token) == .poisoned)
        #expect(stack.expelled.count == 2)
        #expect(stack.isAtRest)
    }

    @Test func aDeliveryBetweenMakesTheFirstOneVoid() {
        var (stack, token) = transforming()
        stack.finish(.transform)
        stack.fail(.store, .badImageData)
        stack.hire(.transform)
        stack.finishAll()
        #expect(stack.image(token) != nil)
        let again = stack.load(
            loader(20).with { $0.storeCacheTypes = .none }, by: stack.connect())
        stack.run(.fetch, .decode, .transform)
        stack.fail(.store, .badImageData)
        stack.hire(.transform)
        stack.finishAll()
        #expect(stack.image(again) != nil)
    }

    /// Output of a serializer is checked as well; its request was answered before.
    @Test func whatASerializerMadeIsHeldAgainstItsHeader() {
        var (stack, client) = Stack.staffed()
        let request = loader(20).with { $0.context.serializer = .transcode(.png, quality: nil) }
        let token = stack.load(request, by: client)
        stack.run(.fetch, .decode)
        while let held = stack.held(.transform).first { stack.finish(held) }
        var forged = 0
        while let held = stack.allHeld.first {
            if case .store(let work) = held.job.work, !work.delivers {
                forged += 1
                stack.finish(held, .failed(ImageError(.badImageData, "as told")))
            } else {
                stack.finish(held)
            }
        }
        #expect(forged == 1)
        #expect(stack.expelled.count == 1)
        stack.hire(.transform)
        stack.finishAll()
        #expect(stack.image(token) != nil)
        #expect(stack.isAtRest)
    }
}
