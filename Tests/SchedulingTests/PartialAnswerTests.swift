import Model
import Testing

@testable import Coordinator

/// Valid outcomes of decoding a partial file.
@Suite struct PartialAnswerTests {
    private static let size = PixelSize(width: 2, height: 2)
    private static let reference = BlockReference(
        segment: 1, offset: 0, length: 12, block: BlockID(1))

    private func answers(
        _ frames: Int, to need: DecodeNeed, isPartial: Bool, properties: ImageProperties? = nil
    ) -> Bool {
        let work = DecodeWork(
            source: Self.reference, need: need, limits: ImageLimits(), framesMax: 2,
            isPartial: isPartial)
        let layout = PixelLayout(bands: .rgb, size: Self.size, stride: 6)
        let frame = DecodedImage.Frame(reference: Self.reference, layout: layout)
        let image = DecodedImage(
            info: ImageInfo(format: .jpeg, size: Self.size),
            frames: (0..<frames).map { _ in frame }, properties: properties)
        return JobResult.decoded(image).answers(.decode(work))
    }

    @Test func ofABeginningThereNeedNotBeAFrame() {
        #expect(answers(0, to: .full, isPartial: true))
        #expect(answers(1, to: .full, isPartial: true))
        #expect(!answers(2, to: .full, isPartial: true))
        #expect(answers(0, to: .header, isPartial: true))
        #expect(!answers(1, to: .header, isPartial: true))
        #expect(!answers(0, to: .full, isPartial: true, properties: ImageProperties()))
    }

    @Test func ofAWholeFileThereIs() {
        #expect(!answers(0, to: .full, isPartial: false))
        #expect(answers(1, to: .full, isPartial: false))
        #expect(answers(2, to: .full, isPartial: false))
        #expect(!answers(3, to: .full, isPartial: false))
    }
}
