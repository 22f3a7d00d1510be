import Model
import Testing

@testable import Coordinator

/// Decoders and transformers that return other frames than requested.
struct ForgedFramesTests {
    private static let canvas = PixelSize(width: 40, height: 30)

    /// A stack whose decoder has a job for a GIF, for all frames or for the first.
    private func decoding(all: Bool, _ terms: LoadTerms = LoadTerms()) -> Stack {
        var (stack, client) = Stack.staffed()
        let request = ImageRequest.image("a", size: 20, .fromLoaderOnly).with {
            $0.originalStoreCacheTypes = .none
            $0.output.format = .webp
            if all { $0.options.insert(.transformAnimatedImage) }
        }
        stack.load(request, by: client, terms: terms)
        stack.finish(.fetch)
        return stack
    }

    /// Returns an outcome with `declared` frames of a source with three, of which `there` are
    /// in the block.
    private func finish(
        _ stack: inout Stack, frames declared: Int, there: Int = 3, size: PixelSize = canvas
    ) {
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

    @Test func framesThatWereAskedForAreTaken() {
        var stack = decoding(all: true)
        finish(&stack, frames: 3)
        #expect(stack.expelled.isEmpty)
        #expect(stack.held(.transform).count == 1)
    }

    /// The pixel limit applies to each frame.
    @Test func pixelsOfFramesDoNotAddUp() {
        var terms = LoadTerms()
        terms.limits[.pixels] = 40 * 30
        var stack = decoding(all: true, terms)
        finish(&stack, frames: 3)
        #expect(stack.expelled.isEmpty)
        terms.limits[.pixels] = 40 * 30 - 1
        stack = decoding(all: true, terms)
        finish(&stack, frames: 3)
        #expect(stack.expelled.count == 1)
    }

    @Test func framesThatTheirDecoderReducedAreTaken() {
        var stack = decoding(all: true)
        finish(&stack, frames: 3, size: PixelSize(width: 20, height: 15))
        #expect(stack.expelled.isEmpty)
        #expect(stack.held(.transform).count == 1)
    }

    @Test func framesThatNobodyAskedForEndTheSession() {
        var stack = decoding(all: false)
        finish(&stack, frames: 3)
        #expect(stack.expelled.count == 1)
    }

    @Test(arguments: [
        (declared: 4, there: 4, size: canvas), (declared: 3, there: 2, size: canvas),
        (declared: 1, there: 1, size: canvas),
        (declared: 3, there: 3, size: PixelSize(width: 41, height: 30)),
    ])
    func framesThatCannotBeEndTheSession(declared: Int, there: Int, size: PixelSize) {
        var stack = decoding(all: true)
        finish(&stack, frames: declared, there: there, size: size)
        #expect(stack.expelled.count == 1)
    }

    @Test(arguments: [(pages: 1, isTaken: true), (pages: 3, isTaken: true), (4, false)])
    func aResultHasNoMoreFramesThanItsSource(pages: Int, isTaken: Bool) {
        var stack = decoding(all: true)
        finish(&stack, frames: 3)
        let held = stack.held(.transform)[0]
        let info = ImageInfo(
            format: .webp, size: PixelSize(width: 20, height: 15), pages: pages)
        let reference = stack.block(of: held.worker, length: 1_000)
        stack.finish(held, .transformed(EncodedImage(reference: reference, info: info)))
        #expect(stack.expelled.isEmpty == isTaken)
    }
}
