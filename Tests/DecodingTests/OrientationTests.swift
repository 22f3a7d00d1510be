import Model
import StageKit
import Testing
import Vips

@Suite struct OrientationTests {
    /// Quarters of the stored image, numbered by rows, in display order according to EXIF 2.32,
    /// 4.6.4, which defines where row 0 and column 0 are displayed for each orientation.
    static let displayed: [(orientation: Int, quarters: [Int])] = [
        (1, [0, 1, 2, 3]), (2, [1, 0, 3, 2]), (3, [3, 2, 1, 0]), (4, [2, 3, 0, 1]),
        (5, [0, 2, 1, 3]), (6, [2, 0, 3, 1]), (7, [3, 1, 2, 0]), (8, [1, 3, 0, 2]),
    ]

    @Test(arguments: displayed)
    func pixelsComeAsTheyAreDisplayed(orientation: Int, quarters: [Int]) throws {
        let marks = [40, 100, 160, 220]
        let bytes = try Sources.encoded(.jpeg(quality: 95), 40, 24, bands: 1) { x, y, _ in
            marks[(y / 12) * 2 + x / 20]
        }.withEXIF(orientation: orientation)
        let decoded = try decode(bytes)
        let size =
            orientation >= 5 ? PixelSize(width: 24, height: 40) : PixelSize(width: 40, height: 24)
        #expect(decoded.image.info.size == size)
        #expect(decoded.plane?.size == size)
        let found = try (0..<4).map { quarter in
            let pixel = try decoded.pixel(
                size.width * (1 + 2 * (quarter % 2)) / 4, size.height * (1 + 2 * (quarter / 2)) / 4)
            return (Int(pixel[0]) - 10) / 60
        }
        #expect(found == quarters)
    }

    @Test func aTurnedImageIsReducedByItsDisplayedBox() throws {
        let bytes = try Sources.marked(.jpeg(quality: 95), 800, 400).withEXIF(orientation: 6)
        let need = DecodeNeed.cover(PixelSize(width: 100, height: 200), .fit)
        let decoded = try decode(bytes, need)
        #expect(decoded.image.info.size == PixelSize(width: 400, height: 800))
        #expect(decoded.plane?.size == PixelSize(width: 100, height: 200))
        #expect(try decoded.pixel(75, 50)[1] < 60)
        #expect(try decoded.pixel(25, 50)[1] > 200)
    }

    @Test(arguments: 2...8)
    func aTurnedImageWithAFractionHasAnHonestLayout(orientation: Int) throws {
        let bytes = try Sources.marked(.jpeg(quality: 95), 401, 203).withEXIF(
            orientation: orientation)
        let need = DecodeNeed.cover(PixelSize(width: 80, height: 80), .fit)
        let decoded = try decode(bytes, need)
        let layout = try #require(decoded.plane)
        let size = decoded.image.info.size
        for (count, active, full) in [
            (layout.size.width, layout.activeWidth, size.width),
            (layout.size.height, layout.activeHeight, size.height),
        ] {
            #expect(active > Double(count) - 1 && active <= Double(count))
            #expect(abs(active - Double(full) / 4) <= 0.5)
        }
    }
}
