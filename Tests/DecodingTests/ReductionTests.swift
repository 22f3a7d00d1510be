import Model
import StageKit
import Testing
import Vips

@testable import Decoding

@Suite struct ReductionTests {
    @Test(arguments: [
        (512, 4, 682, 681.25), (681, 4, 682, 681.25), (683, 2, 1363, 1362.5),
        (300, 8, 341, 340.625),
        (2725, 1, 2725, 2725), (4000, 1, 2725, 2725),
    ])
    func aJPEGIsReducedAsFarAsTheBoxAllows(
        box: Int, shrink: Int, columns: Int, active: Double
    ) throws {
        let bytes = try wide
        let decoded = try decode(bytes, .cover(PixelSize(width: box, height: 4000), .fit))
        let layout = try #require(decoded.plane)
        #expect(layout.size.width == columns)
        #expect(layout.activeWidth == active)
        #expect(layout.size.height == (19 + shrink - 1) / shrink)
        #expect(layout.activeHeight == 19 / Double(shrink))
        #expect(decoded.image.info.size == PixelSize(width: 2725, height: 19))
    }

    @Test func aReducedRampKeepsItsPlace() throws {
        let decoded = try decode(try wide, .cover(PixelSize(width: 600, height: 600), .fit))
        // Column 340 of 681.25 covers source columns 1360 to 1363.
        let wanted = 1361.5 * 255 / 2724
        #expect(abs(Double(try decoded.pixel(340, 2)[0]) - wanted) < 2)
        // The last column is a quarter image, the rest is the encoder's padding.
        #expect(Int(try decoded.pixel(681, 2)[0]) > 250)
    }

    @Test func aWebPIsReducedToWholeColumns() throws {
        let bytes = try Sources.encoded(.webp(quality: 90), 401, 100) { x, _, _ in x / 2 }
        let decoded = try decode(bytes, .cover(PixelSize(width: 100, height: 100), .fit))
        let layout = try #require(decoded.plane)
        #expect(layout.size == PixelSize(width: 100, height: 25))
        #expect(layout.activeWidth == 100)
        #expect(abs(Int(try decoded.pixel(50, 12)[0]) - 101) < 4)
    }

    /// With a profile to convert, a JPEG is decoded by libvips, which would reduce three rows by 8
    /// to none, and aborts when no row is requested.
    @Test(arguments: [1, 3, 7, 9])
    func anImageThinnerThanTheReductionKeepsARow(rows: Int) throws {
        let need = DecodeNeed.cover(PixelSize(width: 10, height: 10), .fit)
        let jpeg = try Sources.encoded(.jpeg(quality: 90), 200, rows) { x, _, _ in x }
        let webp = try Sources.encoded(.webp(quality: 90), 200, rows) { x, _, _ in x }
        for bytes in [jpeg, jpeg.withProfile(TestProfile.rotatedRGB), webp] {
            let decoded = try decode(bytes, need)
            let plane = try #require(decoded.plane)
            #expect(plane.size.height >= 1)
            #expect(decoded.image.info.size == PixelSize(width: 200, height: rows))
        }
    }

    @Test func aPNGIsNotReduced() throws {
        let bytes = try Sources.encoded(.png(compression: 1), 64, 64) { x, _, _ in x }
        let decoded = try decode(bytes, .cover(PixelSize(width: 8, height: 8), .fit))
        #expect(decoded.plane?.size == PixelSize(width: 64, height: 64))
    }

    @Test func aSideThatIsMirroredTakesTheNearestWholeNumber() {
        let plain = ReducedSide(stored: 2725, reduction: 4, decoded: 681, isMirrored: false)
        #expect((plain.count, plain.active, plain.before) == (682, 681.25, 0))
        let quarter = ReducedSide(stored: 2725, reduction: 4, decoded: 681, isMirrored: true)
        #expect((quarter.count, quarter.active, quarter.before) == (681, 681, 0))
        let most = ReducedSide(stored: 2727, reduction: 4, decoded: 681, isMirrored: true)
        #expect((most.count, most.active, most.before) == (682, 682, 1))
        let whole = ReducedSide(stored: 2724, reduction: 4, decoded: 681, isMirrored: true)
        #expect((whole.count, whole.active, whole.before) == (681, 681, 0))
    }

    /// A ramp of 2725 × 19 pixels.
    private var wide: [UInt8] {
        get throws {
            try Sources.encoded(.jpeg(quality: 95), 2725, 19) { x, _, _ in x * 255 / 2724 }
        }
    }
}
