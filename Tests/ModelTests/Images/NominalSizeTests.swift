import Model
import Testing

struct NominalSizeTests {
    private func size(_ steps: [TransformStep], thumbnail: Thumbnail? = nil) -> String {
        var request = ImageRequest(url: "http://a/b")
        request.steps = steps
        request.thumbnail = thumbnail
        return request.nominalSize.description
    }

    private let box = PixelSize(width: 40, height: 30)
    private let turn = TransformStep.rotate(Rotation(degreesClockwise: 90))

    @Test func whereNothingSaysASizeItIsAPixel() {
        #expect(size([]) == "1x1")
        #expect(size([turn, .flip(horizontal: true, vertical: false)]) == "1x1")
    }

    @Test(arguments: ResizeMode.allCases) func aBoxIsTheSize(mode: ResizeMode) {
        #expect(size([.resize(box, mode)]) == "40x30")
        #expect(size([turn, .resize(box, mode)]) == "40x30")
    }

    @Test func stepsAfterTheFirstSizeAreReckoned() {
        let square = PixelSize(width: 20, height: 20)
        let rest = PixelRect(x: 30, y: 0, size: square)
        #expect(size([.resize(box, .fill), turn]) == "30x40")
        #expect(size([.resize(box, .fill), .resize(square, .fit)]) == "20x15")
        #expect(size([.resize(box, .fill), .crop(rest)]) == "10x20")
        #expect(size([.crop(rest)]) == "20x20")
        #expect(size([], thumbnail: Thumbnail(box: box)) == "40x30")
        #expect(
            size([.cropTo(RelativeSize(width: .pixels(7), height: .pixels(5)), .center)]) == "7x5")
        let half = TransformStep.cropTo(
            RelativeSize(width: .percent(50), height: .percent(100)), .center)
        #expect(size([half]) == "1x1")
        #expect(size([.resize(box, .fill), half]) == "20x30")
        #expect(size([.pad(box, .center, .clear)]) == "40x30")
        let outside = PixelRect(x: 99, y: 0, size: square)
        #expect(size([.resize(box, .fill), .crop(outside)]) == "40x30")
    }
}
