import Model
import Testing
import Vips

/// Overlays and base images in every pixel layout that a decoder produces.
@Suite struct OverlayLayoutTests {
    private static let place = PixelRect(x: 3, y: 4, size: PixelSize(width: 10, height: 6))
    private let base = Source(40, 20) { x, y, band in 6 * x + y + 40 * band }
    private let red = Source(10, 6) { _, _, band in band == 0 ? 255 : 0 }

    private func lay(
        _ over: Source, on base: Source, opacity: Double = 1, output: OutputOptions = .png
    ) throws -> Transformed {
        let overlay = Overlay(url: "", x: Self.place.x, y: Self.place.y, opacity: opacity)
        return try transform(base, [.overlay(overlay)], output: output, overlays: [over])
    }

    /// The pixels outside of a rectangle that differ from `wanted`; lists at most a few.
    private func wrong(
        _ result: Transformed, beside rect: PixelRect = Self.place, _ wanted: (Int, Int) -> [Int]
    ) -> [String] {
        places(result.size) { x, y in
            let isOver =
                (rect.x..<(rect.x + rect.size.width)).contains(x)
                && (rect.y..<(rect.y + rect.size.height)).contains(y)
            return isOver || result.pixel(x, y) == wanted(x, y)
        }
    }

    private func places(_ size: PixelSize, where isRight: (Int, Int) -> Bool) -> [String] {
        var wrong: [String] = []
        for y in 0..<size.height {
            for x in 0..<size.width where wrong.count < 5 && !isRight(x, y) {
                wrong.append("\(x), \(y)")
            }
        }
        return wrong
    }

    private func isClose(_ pixel: [Int], _ wanted: [Int], by most: Int) -> Bool {
        pixel.count == wanted.count && zip(pixel, wanted).allSatisfy { abs($0 - $1) <= most }
    }

    // MARK: - Overlays

    /// With odd sides, so that the last chroma samples cover fewer pixels.
    @Test(arguments: [1, 6])
    func aPlanarOverlayIsSeenAsItIsDisplayed(exif: Int) throws {
        let (blue, red) = (100, 170)
        let stored = Source.planar(11, 7, blue: blue, red: red) { x, y in 80 + 5 * x + 3 * y }
        let over = exif == 1 ? stored : stored.turned
        let result = try lay(over, on: base)
        let rect = PixelRect(x: Self.place.x, y: Self.place.y, size: over.info.size)
        #expect(wrong(result, beside: rect, base.pixel).isEmpty)
        let colors = places(rect.size) { x, y in
            let luma = exif == 1 ? 80 + 5 * x + 3 * y : 80 + 5 * y + 3 * (6 - x)
            return isClose(
                result.pixel(rect.x + x, rect.y + y),
                Source.color(luma: luma, blue: blue, red: red), by: 2)
        }
        #expect(colors.isEmpty)
    }

    /// It has the same colors when encoded alone.
    @Test func aPlanarOverlayHasTheColorsThatItHasAlone() throws {
        let over = Source.planar(10, 6, blue: 90, red: 150) { x, y in (x * 31 + y * 57) % 200 }
        let alone = try transform(over, [], output: .png)
        let result = try lay(over, on: base)
        let rect = Self.place
        let places = places(rect.size) { x, y in
            result.pixel(rect.x + x, rect.y + y) == alone.pixel(x, y)
        }
        #expect(places.isEmpty)
    }

    @Test(arguments: PixelPlane.Bands.allCases)
    func anOverlayIsTurnedAsItIsDisplayed(bands: PixelPlane.Bands) throws {
        let isAlpha = Int(bands.rawValue) % 2 == 0
        let stored = Source(6, 10, bands) { x, y, band in
            isAlpha && band == Int(bands.rawValue) - 1 ? 255 : 20 * x + 10 * y + 30 * band
        }
        let result = try lay(stored.turned, on: base)
        let rect = Self.place
        #expect(wrong(result, base.pixel).isEmpty)
        let places = places(rect.size) { x, y in
            result.pixel(rect.x + x, rect.y + y)
                == Array(stored.pixel(y, stored.info.size.height - 1 - x).prefix(3))
        }
        #expect(places.isEmpty)
    }

    @Test(arguments: PixelPlane.Bands.allCases)
    func whatIsBetweenRowsIsNoImage(bands: PixelPlane.Bands) throws {
        let over = Source(10, 6, bands) { x, y, band in 20 * x + 10 * y + 30 * band }
        let plain = try lay(over, on: base)
        #expect(try lay(over.padded(by: 13), on: base).samples == plain.samples)
        #expect(try lay(over, on: base.padded(by: 7)).samples == plain.samples)
    }

    // MARK: - Base images

    @Test func aPlanarImageLeavesItsLaneAtTheOverlay() throws {
        let planar = Source.planar(41, 21, blue: 100, red: 170) { x, y in 60 + 3 * x + 2 * y }
        let alone = try transform(planar, [], output: .png)
        #expect(isClose(alone.pixel(5, 7), Source.color(luma: 89, blue: 100, red: 170), by: 2))
        let result = try lay(red, on: planar)
        #expect(result.header.bands == 3)
        #expect(wrong(result, alone.pixel).isEmpty)
        #expect(result.pixel(3, 4) == [255, 0, 0])
        #expect(result.pixel(12, 9) == [255, 0, 0])
    }

    /// Steps before it are one resampling of planes, steps after it operate on pixels.
    @Test func aPlanarImageHasItsStepsBeforeTheOverlayAndAfterIt() throws {
        let planar = Source.planar(80, 40, blue: 100, red: 170) { x, y in 60 + x + 2 * y }.turned
        let size = PixelSize(width: 20, height: 40)
        let before = TransformStep.resize(size, .stretch)
        let mirror = TransformStep.flip(horizontal: true, vertical: false)
        let alone = try transform(planar, [before], output: .png)
        let overlay = Overlay(url: "", x: Self.place.x, y: Self.place.y)
        let result = try transform(
            planar, [before, .overlay(overlay), mirror], output: .png, overlays: [red])
        #expect(result.size == size)
        let mirrored = PixelRect(x: 20 - 3 - 10, y: 4, size: Self.place.size)
        #expect(wrong(result, beside: mirrored) { x, y in alone.pixel(19 - x, y) }.isEmpty)
        #expect(result.pixel(7, 4) == [255, 0, 0])
        #expect(result.pixel(16, 9) == [255, 0, 0])
    }

    /// The encoder takes planes, which can't hold an overlay.
    @Test(arguments: [ImageFormat.jpeg, .webp])
    func aPlanarImageIsEncodedWithItsOverlay(format: ImageFormat) throws {
        let planar = Source.planar(64, 64) { _, _ in 100 }
        let large = Source(32, 32) { _, _, band in band == 0 ? 255 : 0 }
        let result = try lay(large, on: planar, output: OutputOptions(format: format, quality: 95))
        #expect(result.image.info.format == format)
        #expect(isClose(result.pixel(19, 20), [255, 0, 0], by: 16))
        #expect(isClose(result.pixel(58, 58), [100, 100, 100], by: 4))
    }

    /// Every value of every layout, outside of the overlay and below its transparent parts.
    @Test(arguments: PixelPlane.Bands.allCases, [1, 0.3])
    func whereNothingLiesOverAnOpaqueImageItStaysAsItIs(
        bands: PixelPlane.Bands, opacity: Double
    ) throws {
        let hasAlpha = Int(bands.rawValue) % 2 == 0
        let base = Source(256, 20, bands) { x, y, band in
            hasAlpha && band == Int(bands.rawValue) - 1 ? 255 : (x + 40 * y + 85 * band) % 256
        }
        let half = Source(200, 40, .rgba) { x, _, band in
            band == 3 ? (x < 150 ? 0 : 255) : 9
        }
        let result = try lay(half, on: base, opacity: opacity)
        #expect(result.header.bands == (hasAlpha ? 4 : 3))
        let seen = PixelRect(x: 153, y: 4, size: PixelSize(width: 50, height: 16))
        #expect(wrong(result, beside: seen, base.pixel).isEmpty)
        let isSeen = places(seen.size) { x, y in
            let pixel = result.pixel(seen.x + x, seen.y + y)
            return opacity < 1 || pixel == (hasAlpha ? [9, 9, 9, 255] : [9, 9, 9])
        }
        #expect(isSeen.isEmpty)
    }

    @Test func alphaOfTheImageCounts() throws {
        let base = Source(40, 20, .rgba) { x, _, band in
            band == 3 ? [0, 128, 255][min(2, x / 8)] : 100
        }
        let whole = try lay(red, on: base)
        #expect(whole.pixel(4, 5) == [255, 0, 0, 255])
        #expect(whole.pixel(12, 9) == [255, 0, 0, 255])
        #expect(whole.pixel(0, 0)[3] == 0)
        #expect(isClose(whole.pixel(14, 2), [100, 100, 100, 128], by: 1))
        #expect(whole.pixel(30, 15) == [100, 100, 100, 255])
        let veil = try lay(red, on: base, opacity: 0.5)
        #expect(isClose(veil.pixel(4, 5), [255, 0, 0, 128], by: 1))
        // Two thirds of the visible color come from the overlay and one third from the image.
        #expect(isClose(veil.pixel(12, 9), [203, 33, 33, 191], by: 1))
    }
}

extension OutputOptions {
    /// Lossless output.
    fileprivate static let png = OutputOptions(format: .png)
}
