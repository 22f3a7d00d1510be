import Model
import Testing

@testable import Coordinator

/// A file that a decoder passes through is the result (SEMANTICS §11.37).
struct PassedFileTests {
    private static let unchanged = ImageRequest.image("a", .fromLoaderOnly)
        .with { $0.output.metadata = .copyright }

    /// Completes the current decode with a file instead of pixels.
    private func handOver(_ stack: inout Stack) throws {
        let held = try #require(stack.held(.decode).first)
        var image = stack.decoded(.header, by: held.worker)
        image.file = stack.block(of: held.worker)
        stack.finish(held, .decoded(image))
    }

    @Test func itIsDeliveredAndKeptUnderTheKeyOfTheResult() throws {
        var (stack, client) = Stack.staffed()
        let tokens = [
            stack.load(Self.unchanged, by: client), stack.load(Self.unchanged, by: client),
        ]
        stack.finish(.fetch)
        try handOver(&stack)
        #expect(stack.held(.transform).isEmpty)
        stack.finishAll()
        for token in tokens {
            #expect(stack.image(token)?.key.contains("metadata=copyright") == true)
            #expect(stack.image(token)?.info.format == .jpeg)
        }
        #expect(stack.isAtRest, "\(stack)")
    }

    /// A decoder may still return pixels, such as one of an earlier version.
    @Test func pixelsAreEncodedAsUsual() throws {
        var (stack, client) = Stack.staffed()
        let token = stack.load(Self.unchanged, by: client)
        stack.run(.fetch, .decode, .transform)
        stack.finishAll()
        #expect(stack.image(token) != nil && stack.isAtRest)
    }

    @Test func aLostDecoderHasItMadeAgain() throws {
        var (stack, client) = Stack.staffed()
        let token = stack.load(Self.unchanged, by: client)
        stack.finish(.fetch)
        let worker = try #require(stack.held(.decode).first?.worker)
        try handOver(&stack)
        stack.kill(worker)
        stack.hire(.decode)
        stack.finishAll()
        #expect(stack.image(token) != nil && stack.isAtRest, "\(stack)")
    }

    // MARK: - Validation

    private func isBelieved(
        _ passThrough: PassThrough?, length: UInt64 = 100, allFrames: Bool = false,
        need: DecodeNeed = .full,
        _ change: (inout DecodedImage) -> Void = { _ in }
    ) -> Bool {
        let source = BlockReference(segment: 1, offset: 0, length: 100, block: BlockID(1))
        var work = DecodeWork(source: source, need: need, limits: ImageLimits())
        (work.passThrough, work.wantsAllFrames) = (passThrough, allFrames)
        var image = DecodedImage(
            info: ImageInfo(format: .jpeg, size: PixelSize(width: 4, height: 3)), frames: [])
        image.file = BlockReference(segment: 2, offset: 0, length: length, block: BlockID(2))
        change(&image)
        return JobResult.decoded(image).answers(.decode(work))
    }

    @Test func onlyAFileThatWasAskedForIsBelieved() {
        let unchanged = PassThrough(isUnchanged: true, metadata: .nothing)
        #expect(isBelieved(unchanged))
        #expect(!isBelieved(nil))
        #expect(!isBelieved(unchanged, length: 0))
        #expect(isBelieved(unchanged, length: 16 << 20))
        #expect(!isBelieved(unchanged, length: 16 << 20 + 1))
        #expect(!isBelieved(unchanged) { $0.info.format = .tiff })
        #expect(!isBelieved(unchanged) { $0.info.pages = 2 })
        #expect(isBelieved(unchanged, allFrames: true) { $0.info.pages = 2 })
        #expect(!isBelieved(unchanged) { $0.info.size.width = 0 })
        #expect(!isBelieved(unchanged) { $0.properties = ImageProperties() })
        // 4 × 3 pixels: if the need requires a reduction, the file must be decoded.
        #expect(isBelieved(unchanged, need: .area(12)))
        #expect(!isBelieved(unchanged, need: .area(11)))
        #expect(isBelieved(unchanged, need: .cover(PixelSize(width: 4, height: 9), .fit)))
        #expect(!isBelieved(unchanged, need: .cover(PixelSize(width: 3, height: 9), .fit)))
        let drawings = PassThrough(formats: [.svg], isUnchanged: false, metadata: .nothing)
        #expect(!isBelieved(drawings))
        #expect(isBelieved(drawings) { $0.info.format = .svg })
    }
}
