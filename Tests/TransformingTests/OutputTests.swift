import Model
import StageKit
import Testing
import Vips

@Suite struct OutputTests {
    @Test(arguments: [
        (ImageFormat.jpeg, PixelPlane.Bands.rgb, ImageFormat.jpeg), (.png, .rgb, .png),
        (.webp, .rgb, .webp), (.gif, .rgb, .jpeg), (.gif, .rgba, .png), (.jpeg, .gray, .jpeg),
    ])
    func theSourceChoosesTheFormatWhereTheRequestDoesNot(
        source: ImageFormat, bands: PixelPlane.Bands, result: ImageFormat
    ) throws {
        var pixels = Source.quarters(32, 32, bands)
        pixels.info.format = source
        #expect(try transform(pixels, []).image.info.format == result)
    }

    /// The preferred format that supports the size: WebP is limited to 16,383 pixels per side.
    @Test(
        arguments: [
            ([.webp, .avif], 64, .avif), ([.webp], 64, .webp), ([.jxl], 64, .jxl),
            ([.webp], 16_384, .png), ([.webp, .jxl], 16_384, .jxl),
        ] as [([ImageFormat], Int, ImageFormat)])
    func whatIsAcceptedGoesFirst(
        accepted: [ImageFormat], width: Int, result: ImageFormat
    ) throws {
        var output = OutputOptions()
        output.accepted = accepted
        let produced = try transform(.quarters(width, 16), [], output: output)
        #expect(produced.image.info.format == result)
    }

    @Test(arguments: ImageFormat.encodable, PixelPlane.Bands.allCases)
    func everyFormatTakesEveryLayout(format: ImageFormat, bands: PixelPlane.Bands) throws {
        let output = OutputOptions(format: format, quality: 95)
        let result = try transform(.quarters(64, 32, bands), [], output: output)
        #expect(result.image.info.format == format)
        #expect(result.size == PixelSize(width: 64, height: 32))
        #expect(result.quarters == [0, 1, 2, 3])
    }

    @Test func transparencyBecomesWhiteInAJPEG() throws {
        let source = Source(32, 32, .rgba) { x, _, band in band == 3 ? (x < 16 ? 0 : 255) : 0 }
        let result = try transform(source, [], output: OutputOptions(format: .jpeg))
        #expect(result.pixel(4, 16).allSatisfy { $0 > 250 })
        #expect(result.pixel(28, 16).allSatisfy { $0 < 5 })
    }

    /// Half of the background and half of the pixel, if that is half transparent.
    @Test(arguments: [PixelPlane.Bands.rgba, .grayAlpha])
    func aColorOfTheRequestIsBehindAJPEG(bands: PixelPlane.Bands) throws {
        let alpha = [0, 128, 255]
        let last = bands == .rgba ? 3 : 1
        let source = Source(48, 32, bands) { x, _, band in band == last ? alpha[x / 16] : 40 }
        var output = OutputOptions(format: .jpeg, quality: 100)
        output.background = Color(argb: 0xFFC8_6400)
        let result = try transform(source, [], output: output)
        for (place, wanted) in [[200, 100, 0], [120, 70, 20], [40, 40, 40]].enumerated() {
            for (found, sample) in zip(result.pixel(place * 16 + 8, 16), wanted) {
                #expect(abs(found - sample) <= 3, "\(place)")
            }
        }
        #expect(result.header.bands == 3)
    }

    @Test func qualityAndLosslessAreTaken() throws {
        let noise = Source(128, 128) { x, y, band in (x * y * (band + 3)) % 251 }
        for format in [ImageFormat.jpeg, .webp, .avif, .jxl] {
            let sizes = try [10, 80, 100].map { quality in
                try transform(
                    noise, [], output: OutputOptions(format: format, quality: quality)
                ).bytes.count
            }
            #expect(sizes == sizes.sorted() && Set(sizes).count == 3)
            let unset = try transform(noise, [], output: OutputOptions(format: format))
            #expect(unset.bytes.count == sizes[1])
        }
        for format in [ImageFormat.webp, .avif, .jxl] {
            let lossless = try transform(
                noise, [], output: OutputOptions(format: format, quality: 10, lossless: true))
            #expect(lossless.samples == noise.samples)
        }
    }

    @Test(arguments: [ImageFormat.bmp, .heic, .psd])
    func aFormatThatIsNotEncodedIsUnsupported(format: ImageFormat) {
        let error = failure(.quarters(8, 8), [], output: OutputOptions(format: format))
        #expect(error?.code == .unsupportedFormat)
        let others = "jpeg, png, gif, tiff, webp, avif, jxl, pam"
        #expect(error?.message == "this version does not encode \(format.name); use \(others)")
    }

    @Test func aWebPIsAtMostAsLargeAsTheFormatAllows() throws {
        let source = Source(16_384, 1) { _, _, _ in 0 }
        let error = failure(source, [], output: OutputOptions(format: .webp))
        #expect(error?.code == .limitExceeded)
        #expect(throws: Never.self) {
            try transform(source, [], output: OutputOptions(format: .png))
        }
    }

    @Test func whatItsEncoderHasNoMemoryForIsRefused() throws {
        let pixel = Source(1, 1) { _, _, _ in 0 }
        for (format, side) in [(ImageFormat.avif, 7_072), (.jxl, 5_478)] {
            let step = TransformStep.resize(PixelSize(width: side, height: side), .stretch)
            let error = failure(pixel, [step], output: OutputOptions(format: format))
            #expect(error?.code == .limitExceeded && error?.details["limit"] == "pixelsMax")
        }
    }

    @Test func theBlockGrowsWithTheBytes() throws {
        let noise = Source(300, 300, .rgba) { x, y, band in (x * y * (band + 3) + y) % 251 }
        let result = try transform(noise, [], output: OutputOptions(format: .png))
        #expect(result.bytes.count > 300 * 300 * 4 / 2, "the estimate suffices, nothing is tested")
        #expect(result.samples == noise.samples)
    }

    @Test func noSpaceIsArenaFull() {
        let noise = Source(300, 300, .rgba) { x, y, band in (x * y * (band + 3) + y) % 251 }
        for bytes in [100, 300 * 300 * 2] {
            let error = failure(
                noise, [], output: OutputOptions(format: .png), space: HeapSpace(bytesMax: bytes))
            #expect(error?.code == .arenaFull)
        }
    }
}
