import Model
import StageKit
import TestKit
import Testing
import Vips

/// The average and the dominant color.
@Suite struct ColorFactTests {
    private func colors(_ bytes: [UInt8]) throws -> ImageProperties {
        try properties(of: bytes, RequestedProperties(.colors))
    }

    @Test func theAverageIsTheMeanOfTheSamples() throws {
        // 30 columns of 10, 10 of 250.
        let bytes = try Sources.encoded(.png(compression: 1), 40, 20) { x, _, band in
            x < 30 ? 10 + band : 250
        }
        let found = try colors(bytes)
        #expect(found.average == Color(argb: 0xFF46_4748))
        #expect(found.dominant == Color(argb: 0xFF0A_0B0C))
    }

    /// Red is opaque, blue almost transparent.
    @Test func whatIsNotSeenDoesNotCount() throws {
        let bytes = try Sources.encoded(.png(compression: 1), 40, 20, bands: 4) { x, _, band in
            let color = x < 10 ? [255, 0, 0, 255] : [0, 0, 255, 1]
            return color[band]
        }
        let found = try colors(bytes)
        // 10 × 255 against 30 × 1; alpha (10 × 255 + 30) / 40.
        #expect(found.average == Color(argb: 0x41FC_0003))
        #expect(found.dominant == Color(argb: 0xFFFF_0000))
    }

    @Test func nothingHasNoDominantColor() throws {
        let found = try colors(FormulaImage.clear.png(bands: 4))
        #expect(found.average == .clear)
        #expect(found.dominant == nil)
    }

    /// The most frequent of three colors, although its samples differ slightly: values from 32 to
    /// 47 fall into one bin.
    @Test func theDominantColorIsTheMeanOfItsSort() throws {
        let bytes = try Sources.encoded(.png(compression: 1), 30, 10, bands: 3) { x, _, band in
            if x < 12 { return band == 0 ? 32 + x % 4 * 2 : 100 }
            return x < 21 ? 200 : 0
        }
        let found = try colors(bytes)
        #expect(found.dominant == Color(argb: 0xFF23_6464))
    }

    /// According to Pillow 13.0, `ImageStat.Stat(image).mean` of the photograph is 101.45, 76.33,
    /// 61.52.
    @Test(.enabled(if: Fixtures.folder != nil, "needs IMAGEBUS_FIXTURES"))
    func thePhotographHasTheMeanThatPillowSays() throws {
        let found = try colors(try Fixtures.read("photos/photo-2725x2225.jpg")).average
        let average = try #require(found)
        #expect(average.alpha == 255)
        let means = [average.red, average.green, average.blue]
        for (mean, wanted) in zip(means, [101, 76, 62]) { #expect(abs(Int(mean) - wanted) <= 2) }
    }

    /// The profile swaps the channels: red in the file is green.
    @Test func colorsAreThoseOfSRGB() throws {
        let jpeg = try Sources.encoded(.jpeg(quality: 95), 64, 64) { _, _, band in
            band == 0 ? 255 : 0
        }.withProfile(TestProfile.rotatedRGB)
        let average = try #require(try colors(jpeg).average)
        #expect(average.green > 240 && average.red < 20 && average.blue < 20, "\(average)")
    }

    /// Limits apply to the whole image, as for header properties, however far it is reduced.
    @Test(arguments: [VipsEncoding.jpeg(quality: 80), .png(compression: 1)])
    func limitsAreThoseOfTheWholeImage(encoding: VipsEncoding) throws {
        var limits = ImageLimits()
        limits.pixelsMax = 800 * 600
        let image = try Sources.encoded(encoding, 800, 600) { x, _, _ in x }
        #expect(
            try properties(of: image, RequestedProperties(.colors), limits: limits).average != nil)
        limits.pixelsMax -= 1
        let error = #expect(throws: ImageError.self) {
            try properties(of: image, RequestedProperties(.colors), limits: limits)
        }
        #expect(error?.code == .limitExceeded)
    }
}
