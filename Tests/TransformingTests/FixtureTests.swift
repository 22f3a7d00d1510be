import Model
import TestKit
import Testing
import Vips

@testable import Transforming

/// Third-party images from the folder named by the environment; the expected values are those of
/// SDWebImage's tests.
@Suite(.enabled(if: Fixtures.folder != nil, "needs IMAGEBUS_FIXTURES"))
struct FixtureTests {
    @Test func thePhotographFitsExactly() throws {
        let source = try photograph(shrink: 4)
        let steps = [TransformStep.resize(PixelSize(width: 512, height: 512), .fit)]
        let result = try transform(source, steps)
        #expect(result.image.info.format == .jpeg)
        #expect(result.size == PixelSize(width: 512, height: 418))
        #expect((25_000..<60_000).contains(result.bytes.count))
    }

    /// Decoding at a quarter and resizing gives nearly the same as resizing all pixels; without the
    /// active region it would be 4 dB less.
    @Test func theReducedPhotographIsLikeTheWholeOne() throws {
        let steps = [TransformStep.resize(PixelSize(width: 512, height: 512), .fit)]
        let output = OutputOptions(format: .png)
        let reduced = try transform(photograph(shrink: 4), steps, output: output)
        let whole = try transform(photograph(shrink: 1), steps, output: output)
        let error = zip(reduced.samples, whole.samples).reduce(0.0) { sum, pair in
            let difference = Double(pair.0) - Double(pair.1)
            return sum + difference * difference
        }
        let mean = error / Double(whole.samples.count)
        #expect(mean < 65_025 / 10_000, "less than 40 dB: \(mean)")
    }

    @Test func theOraclesOfTestImageHold() throws {
        let source = try testImage()
        let stretched = try transform(
            source, [.resize(PixelSize(width: 200, height: 100), .stretch)])
        #expect(stretched.size == PixelSize(width: 200, height: 100))
        let boxed = try transform(
            source, [.resize(PixelSize(width: 2000, height: 1000), .letterbox)])
        #expect(boxed.size == PixelSize(width: 2000, height: 1000))
        #expect(boxed.pixel(1000, 50) == [0, 0, 0, 255])
        let rect = PixelRect(x: 50, y: 10, size: PixelSize(width: 200, height: 200))
        let cropped = try transform(source, [.crop(rect)])
        #expect(cropped.size == PixelSize(width: 200, height: 200))
        #expect(cropped.pixel(0, 0)[3] == 0)
        #expect(cropped.pixel(100, 10) == [0, 0, 0, 255])
        let flipped = try transform(source, [.flip(horizontal: true, vertical: true)])
        #expect(flipped.pixel(150, 285) == [0, 0, 0, 255])
        let square = (75..<85).flatMap { y in (75..<85).map { x in flipped.pixel(x, y) } }
        #expect(Set(square).count == 1)
    }

    @Test func theOraclesOfColorsAndTurnsHold() throws {
        let source = try testImage()
        let blurred = try transform(source, [.blur(radius: 25)])
        let (fractions, found) = ([0.59, 0.14, 0.12, 0.75], blurred.pixel(80, 150))
        for (wanted, sample) in zip(fractions, found) {
            #expect(abs(Double(sample) / 255 - wanted) <= 0.01, "\(found)")
        }
        #expect(blurred.pixel(150, 20) != blurred.pixel(150, 280))
        let inverted = try transform(source, [.invert])
        for (wanted, sample) in zip([0.851, 0.992, 0.992, 1], inverted.pixel(80, 150)) {
            #expect(abs(Double(sample) / 255 - wanted) <= 0.01)
        }
        #expect(inverted.pixel(150, 20) == [255, 255, 255, 255])
        let turned = try transform(source, [.rotate(Rotation(radians: .pi / 4, fitsSize: true))])
        #expect(max(turned.size.width, turned.size.height) <= 426)
        #expect(turned.pixel(60, 175) == [0, 0, 0, 255])
        let still = try transform(source, [.rotate(Rotation(radians: .pi / 4, fitsSize: false))])
        #expect(still.size == PixelSize(width: 300, height: 300))
    }

    @Test func theOraclesOfRoundCornersAndTintsHold() throws {
        let source = try testImage()
        let black = Color(argb: 0xFF00_0000)
        let rounded = try transform(source, [.round(radius: 50, .all, border: 1, black)])
        #expect(rounded.size == PixelSize(width: 300, height: 300))
        #expect(rounded.pixel(0, 0)[3] == 0)
        #expect(rounded.pixel(1, 150) == [0, 0, 0, 255])
        #expect(rounded.pixel(150, 20) == [0, 0, 0, 255])
        let tinted = try transform(source, [.tint(black)])
        #expect(tinted.size == PixelSize(width: 300, height: 300))
        #expect(tinted.pixel(150, 150)[3] == 0)
        #expect(tinted.pixel(80, 150) == [0, 0, 0, 255])
        #expect(tinted.pixel(150, 20) == [0, 0, 0, 255])
    }

    @Test func aPNGWithAlphaAsJPEGStandsOnWhite() throws {
        let result = try transform(testImage(), [], output: OutputOptions(format: .jpeg))
        #expect(result.pixel(1, 1).allSatisfy { $0 > 250 })
    }

    private func testImage() throws -> Source {
        let bytes = try Fixtures.read("images/TestImage.png")
        return try source(bytes, .png, size: PixelSize(width: 300, height: 300), shrink: 1) {
            try VipsImage.png($0)
        }
    }

    private func photograph(shrink: Int) throws -> Source {
        let bytes = try Fixtures.read("photos/photo-2725x2225.jpg")
        return try source(bytes, .jpeg, size: PixelSize(width: 2725, height: 2225), shrink: shrink)
        {
            try VipsImage.jpeg($0, shrink: shrink)
        }
    }

    /// The output of a decoder: whole columns and a partial one.
    private func source(
        _ bytes: [UInt8], _ format: ImageFormat, size: PixelSize, shrink: Int,
        _ load: (UnsafeRawBufferPointer) throws -> VipsImage
    ) throws -> Source {
        try VipsLibrary().exclusively {
            try bytes.withUnsafeBytes { bytes in
                let width = (size.width + shrink - 1) / shrink
                let height = (size.height + shrink - 1) / shrink
                let image = try load(bytes).extended(left: 0, top: 0, width: width, height: height)
                let bands = try #require(
                    PixelPlane.Bands(rawValue: UInt8(image.header.bands)))
                var source = Source(0, 0, bands, format: format) { _, _, _ in 0 }
                source.info.size = size
                source.layout = PixelLayout(
                    bands: bands, size: PixelSize(width: width, height: height),
                    stride: width * image.header.bands,
                    activeWidth: Double(size.width) / Double(shrink),
                    activeHeight: Double(size.height) / Double(shrink))
                source.samples = [UInt8](
                    repeating: 0, count: width * height * image.header.bands)
                try source.samples.withUnsafeMutableBytes { try image.write(to: $0) }
                return source
            }
        }
    }
}
