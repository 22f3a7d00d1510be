import Model
import Testing

@testable import Coordinator

/// Transformers and decoders that report impossible properties, and images that don't match theirs.
struct ForgedImageTests {
    private var stack = Stack.staffed()

    private func loader(_ size: Int) -> ImageRequest {
        .loader(size: size).discardingOriginal
    }

    /// A stack whose transformer has a job: 40 × 30 into a box of 20.
    private mutating func transforming() -> Token {
        stack = Stack.staffed()
        let token = stack.load(loader(20))
        stack.run(.fetch, .decode)
        return token
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
    mutating func aResultThatTheStepsDoNotMakeEndsTheSession(info: ImageInfo, length: UInt64) {
        let token = transforming()
        let held = stack.held(.transform)[0]
        let reference = stack.block(of: held.worker, length: length)
        stack.finish(held, .transformed(EncodedImage(reference: reference, info: info)))
        #expect(stack.gone == [held.worker])
        stack.hire(.transform)
        stack.end()
        #expect(stack.image(token)?.info.size == Self.right)
    }

    @Test(arguments: [
        ImageInfo(format: .jpeg, size: PixelSize(width: 32_768, height: 1)),
        ImageInfo(format: .png, size: PixelSize(width: 32_000, height: 32_000)),
        ImageInfo(format: .jpeg, size: PixelSize(width: 320_000, height: 32_000)),
        ImageInfo(format: .jpeg, size: PixelSize(width: .max, height: .max)),
        ImageInfo(format: .gif, size: PixelSize(width: 30_000, height: 1), pages: 10_001),
    ])
    mutating func factsBeyondTheLimitsOfTheJobEndTheSession(info: ImageInfo) {
        let token = stack.load(loader(20))
        stack.finish(.fetch)
        let held = stack.held(.decode)[0]
        let layout = PixelLayout(bands: .rgb, size: PixelSize(width: 2, height: 2), stride: 6)
        let reference = stack.block(of: held.worker, length: 12)
        stack.finish(
            held,
            .decoded(
                DecodedImage(info: info, frames: [.init(reference: reference, layout: layout)])))
        #expect(stack.gone == [held.worker])
        stack.hire(.decode)
        stack.end(token)
    }

    /// Metadata is accepted only if it was requested.
    @Test(arguments: [true, false])
    mutating func aProfileThatNobodyAskedForEndsTheSession(isAskedFor: Bool) {
        stack.load(loader(20).with { $0.output.keepsProfile = isAskedFor })
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

    @Test mutating func anImageThatTheCacheFindsToBeAnotherIsMadeElsewhere() {
        let token = transforming()
        let forger = stack.held(.transform)[0].worker
        stack.finish(.transform)
        stack.fail(.store, .badImageData)
        #expect(stack.gone == [forger])
        #expect(stack.replies[token] == nil)
        stack.hire(.transform)
        stack.end(token)
    }

    @Test mutating func theSecondSuchImageIsTheLastOne() {
        let token = transforming()
        stack.finish(.transform)
        stack.fail(.store, .badImageData)
        stack.hire(.transform)
        stack.run(.fetch, .decode, .transform)
        stack.fail(.store, .badImageData)
        #expect(stack.error(token) == .poisoned)
        #expect(stack.expelled.count == 2)
        #expect(stack.isAtRest)
    }

    @Test mutating func aDeliveryBetweenMakesTheFirstOneVoid() {
        let token = transforming()
        stack.finish(.transform)
        stack.fail(.store, .badImageData)
        stack.hire(.transform)
        stack.finishAll()
        #expect(stack.image(token) != nil)
        let again = stack.load(loader(20).with { $0.storeCacheTypes = .none }, by: stack.connect())
        stack.run(.fetch, .decode, .transform)
        stack.fail(.store, .badImageData)
        stack.hire(.transform)
        stack.finishAll()
        #expect(stack.image(again) != nil)
    }

    /// Output of a serializer is checked as well; its request was answered before.
    @Test mutating func whatASerializerMadeIsHeldAgainstItsHeader() {
        let request = loader(20).with { $0.context.serializer = .transcode(.png, quality: nil) }
        let token = stack.load(request)
        stack.run(.fetch, .decode)
        while let held = stack.held(.transform).first { stack.finish(held) }
        let works = stack.finishJobs { _, held in
            held.work.store?.delivers == false ? .failed(ImageError(.badImageData, "as told")) : nil
        }
        #expect(works.count { $0.store?.delivers == false } == 1)
        #expect(stack.expelled.count == 1)
        stack.hire(.transform)
        stack.end(token)
    }
}

/// Decoders and transformers that return other frames than requested.
struct ForgedFramesTests {
    private var stack = Stack.staffed()
    private static let canvas = PixelSize(width: 40, height: 30)

    /// A stack whose decoder has a job for a GIF, for all frames or for the first.
    private mutating func decoding(all: Bool, _ terms: LoadTerms = LoadTerms()) {
        stack = Stack.staffed()
        let request = ImageRequest.loader(size: 20).with {
            $0.originalStoreCacheTypes = .none
            $0.output.format = .webp
            if all { $0.options.insert(.transformAnimatedImage) }
        }
        stack.load(request, terms: terms)
        stack.finish(.fetch)
    }

    /// Returns an outcome with `declared` frames of a source with three, of which `there` are
    /// in the block.
    private mutating func finish(frames declared: Int, there: Int = 3, size: PixelSize = canvas) {
        let held = stack.held(.decode)[0]
        var layout = PixelLayout(bands: .rgba, size: size, stride: 4 * size.width)
        layout.animation = AnimationProperties(
            durations: [UInt32](repeating: 100_000, count: declared), loops: 0)
        let length = UInt64(there * 4 * size.width * size.height)
        let frame = DecodedImage.Frame(
            reference: stack.block(of: held.worker, length: length), layout: layout)
        let info = ImageInfo(format: .gif, size: Self.canvas, pages: 3, hasAlpha: true)
        stack.finish(held, .decoded(DecodedImage(info: info, frames: [frame])))
    }

    @Test mutating func framesThatWereAskedForAreTaken() {
        decoding(all: true)
        finish(frames: 3)
        #expect(stack.expelled.isEmpty)
        #expect(stack.held(.transform).count == 1)
    }

    /// The pixel limit applies to each frame.
    @Test mutating func pixelsOfFramesDoNotAddUp() {
        var terms = LoadTerms()
        terms.limits[.pixels] = 40 * 30
        decoding(all: true, terms)
        finish(frames: 3)
        #expect(stack.expelled.isEmpty)
        terms.limits[.pixels] = 40 * 30 - 1
        decoding(all: true, terms)
        finish(frames: 3)
        #expect(stack.expelled.count == 1)
    }

    @Test mutating func framesThatTheirDecoderReducedAreTaken() {
        decoding(all: true)
        finish(frames: 3, size: PixelSize(width: 20, height: 15))
        #expect(stack.expelled.isEmpty)
        #expect(stack.held(.transform).count == 1)
    }

    @Test mutating func framesThatNobodyAskedForEndTheSession() {
        decoding(all: false)
        finish(frames: 3)
        #expect(stack.expelled.count == 1)
    }

    @Test(arguments: [
        (declared: 4, there: 4, size: canvas), (declared: 3, there: 2, size: canvas),
        (declared: 1, there: 1, size: canvas),
        (declared: 3, there: 3, size: PixelSize(width: 41, height: 30)),
    ])
    mutating func framesThatCannotBeEndTheSession(declared: Int, there: Int, size: PixelSize) {
        decoding(all: true)
        finish(frames: declared, there: there, size: size)
        #expect(stack.expelled.count == 1)
    }

    @Test(arguments: [(pages: 1, isTaken: true), (pages: 3, isTaken: true), (4, false)])
    mutating func aResultHasNoMoreFramesThanItsSource(pages: Int, isTaken: Bool) {
        decoding(all: true)
        finish(frames: 3)
        let held = stack.held(.transform)[0]
        let info = ImageInfo(format: .webp, size: PixelSize(width: 20, height: 15), pages: pages)
        let reference = stack.block(of: held.worker, length: 1_000)
        stack.finish(held, .transformed(EncodedImage(reference: reference, info: info)))
        #expect(stack.expelled.isEmpty == isTaken)
    }
}
