import Model
import Testing

@Suite struct DecodeNeedTests {
    private static let box = PixelSize(width: 512, height: 300)
    private static let turn = TransformStep.rotate(Rotation(degreesClockwise: 90))
    private static let half = TransformStep.rotate(Rotation(degreesClockwise: 180))
    private static let flip = TransformStep.flip(horizontal: true, vertical: false)
    private static let crop = TransformStep.crop(PixelRect(x: 0, y: 0, size: box))
    private static let fit = TransformStep.resize(box, .fit)

    @Test(
        arguments: [
            ([], .header), ([fit], .cover(box, .fit)), ([flip, fit], .cover(box, .fit)),
            ([turn, fit], .cover(box.transposed, .fit)), ([half, fit], .cover(box, .fit)),
            ([turn, flip, turn, fit], .cover(box, .fit)), ([crop, fit], .full),
            ([fit, crop], .cover(box, .fit)),
            ([flip], .full), ([turn, crop], .full),
            ([.rotate(Rotation(degreesClockwise: 45)), fit], .full),
            ([.resize(box, .fill), fit], .cover(box, .fill)),
        ] as [([TransformStep], DecodeNeed)])
    func stepsSayWhatIsNeededOfTheSource(steps: [TransformStep], need: DecodeNeed) {
        var request = ImageRequest(url: "http://h/")
        request.steps = steps
        #expect(DecodeNeed(request) == need)
    }

    @Test func thumbnailsAreCoveredAndOtherFormatsNeedEverything() {
        var request = ImageRequest(url: "http://h/")
        request.output.format = .png
        #expect(DecodeNeed(request) == .full)
        request.thumbnail = Thumbnail(box: Self.box)
        #expect(DecodeNeed(request) == .cover(Self.box, .fit))
        request.thumbnail?.preservesAspectRatio = false
        #expect(DecodeNeed(request) == .cover(Self.box, .stretch))
        request.infoOnly = true
        #expect(DecodeNeed(request) == .header)
    }

    private static let photo = PixelSize(width: 2_725, height: 2_225)

    @Test(
        arguments: [
            (photo, 512, 512, .fit, 4), (photo, 512, 512, .letterbox, 4),
            (photo, 512, 512, .fill, 4), (photo, 512, 512, .stretch, 4),
            (photo, 341, 279, .stretch, 8), (photo, 342, 279, .stretch, 4),
            (photo, 100, 2_000, .stretch, 1), (photo, 100, 1_113, .stretch, 2),
            (photo, 2_725, 2_225, .fit, 1), (photo, 9_000, 9_000, .fit, 1),
            (photo, 9_000, 9_000, .letterbox, 1), (photo, 10, 10, .fit, 8),
            (PixelSize(width: 4_096, height: 4_096), 512, 512, .fit, 8),
            (PixelSize(width: 4_095, height: 4_095), 512, 512, .fit, 8),
            (PixelSize(width: 4_088, height: 4_088), 512, 512, .fit, 4),
            (PixelSize(width: 1, height: 1), 1, 1, .fit, 8),
            (PixelSize(width: 10_000, height: 1), 10, 10, .fit, 8),
        ] as [(PixelSize, Int, Int, ResizeMode, Int)])
    func theLargestReductionThatStillCoversIsTaken(
        source: PixelSize, width: Int, height: Int, mode: ResizeMode, shrink: Int
    ) {
        let need = DecodeNeed.cover(PixelSize(width: width, height: height), mode)
        #expect(need.shrink(for: source, permitted: [1, 2, 4, 8]) == shrink)
    }

    @Test func onlyPermittedReductionsAreTaken() {
        let need = DecodeNeed.cover(PixelSize(width: 512, height: 512), .fit)
        #expect(need.shrink(for: Self.photo, permitted: []) == 1)
        #expect(need.shrink(for: Self.photo, permitted: [8, 2]) == 2)
        #expect(need.shrink(for: Self.photo, permitted: [0, -3, 16]) == 1)
        #expect(DecodeNeed.full.shrink(for: Self.photo, permitted: [1, 8]) == 1)
        #expect(DecodeNeed.header.shrink(for: Self.photo, permitted: [1, 8]) == 1)
    }
}
