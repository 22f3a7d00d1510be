import Model
import StageKit
import TestKit
import Testing
import Vips

/// BMP files and Windows icons from the encoders of ImageMagick, Pillow and icoutils.
@Suite struct BitmapTests {
    private static let size = PixelSize(width: ExternalFiles.width, height: ExternalFiles.height)

    @Test(
        arguments: [
            (["-type", "truecolor"], "BMP2:", 0), (["-type", "truecolor"], "BMP3:", 0),
            (["-type", "truecolor"], "BMP:", 0),
            (["-define", "bmp:subtype=RGB565"], "BMP:", 8),
            (["-define", "bmp:subtype=RGB555"], "BMP:", 8),
            (["-type", "palette"], "BMP3:", 0), (["-type", "palette"], "BMP2:", 0),
            (["-type", "palette", "-compress", "RLE"], "BMP3:", 0),
            (["-colors", "4", "-type", "palette"], "BMP3:", 0),
        ] as [([String], String, Int)])
    func aBMPOfEveryKindBecomesItsPixels(words: [String], version: String, tolerance: Int) throws {
        let file = try ExternalFiles.bmp(ExternalFiles.png(), words, version: version)
        let decoded = try decode(file)
        #expect(decoded.image.info == ImageInfo(format: .bmp, size: Self.size))
        try expectColors(of: decoded, within: tolerance)
    }

    @Test(arguments: ["RGB", "P", "RGBA"])
    func aBMPOfPillowBecomesItsPixels(mode: String) throws {
        let decoded = try decode(
            ExternalFiles.pillow(ExternalFiles.png(), as: "a.bmp", mode: mode))
        // In 32-bit pixels, the last byte is alpha only if the header says so.
        #expect(decoded.image.info == ImageInfo(format: .bmp, size: Self.size))
        try expectColors(of: decoded, within: mode == "P" ? 40 : 0)
    }

    @Test func blackAndWhiteIsBlackAndWhite() throws {
        let png = try Sources.marked(.png(compression: 1), 18, 10)
        let decoded = try decode(ExternalFiles.bmp(png, ["-monochrome"], version: "BMP3:"))
        #expect(try decoded.pixel(3, 3) == [0, 0, 0])
        #expect(try decoded.pixel(17, 9) == [255, 255, 255])
    }

    @Test func alphaThatAMaskNamesStays() throws {
        let file = try ExternalFiles.bmp(
            ExternalFiles.png(bands: 4), ["-type", "truecoloralpha"], version: "BMP:")
        let decoded = try decode(file)
        #expect(decoded.image.info.hasAlpha)
        #expect(try decoded.pixel(12, 8) == [200, 40, 30, 100])
        #expect(try decoded.pixel(36, 24) == [220, 210, 60, 255])
    }

    /// The height is negative: the first row is at the top.
    @Test func rowsMayBeginAtTheTop() throws {
        var file = try ExternalFiles.bmp(
            ExternalFiles.png(), ["-flip", "-type", "truecolor"], version: "BMP3:")
        let height = withUnsafeBytes(of: Int32(-ExternalFiles.height).littleEndian) { Array($0) }
        file.replaceSubrange(22..<26, with: height)
        try expectColors(of: decode(file), within: 0)
    }

    /// The loader itself would return an image, with uninitialized memory in missing rows.
    @Test func whatEndsEarlyIsBadData() throws {
        let icon = try ExternalFiles.icon(bitmaps: [ExternalFiles.square(40, [1, 2, 3])])
        for file in [
            try ExternalFiles.bmp(ExternalFiles.png(), ["-type", "truecolor"], version: "BMP3:"),
            try ExternalFiles.bmp(ExternalFiles.png(), ["-type", "palette"], version: "BMP3:"),
            icon,
        ] {
            for part in [0.05, 0.3, 0.6, 0.9] {
                let cut = Array(file.prefix(Int(Double(file.count) * part)))
                #expect(failure(cut)?.code == .badImageData, "\(part)")
            }
        }
    }

    /// Run-length codes may skip pixels; those must not show memory of another image.
    @Test func whatACodeLeavesOutIsBlack() throws {
        var file = try ExternalFiles.bmp(
            ExternalFiles.png(), ["-type", "palette", "-compress", "RLE"], version: "BMP3:")
        let start = Int(file[10]) | Int(file[11]) << 8
        file.replaceSubrange(start..., with: [0, 1])
        #expect(try decode(file).samples.allSatisfy { $0 == 0 })
    }

    @Test func limitsAreCheckedOnTheHeader() throws {
        let bmp = try ExternalFiles.bmp(ExternalFiles.png(), [], version: "BMP3:")
        for (limits, name) in [
            (ImageLimits(sideMax: 47), "sideMax"), (ImageLimits(pixelsMax: 1_535), "pixelsMax"),
            (ImageLimits(pixelBytesMax: 4_607), "pixelBytesMax"),
        ] {
            #expect(failure(bmp, limits: limits)?.details["limit"] == name)
        }
        // A decompression bomb: 54 bytes that declare 30,000 × 30,000 pixels.
        var bomb = Array(bmp.prefix(54))
        for place in [18, 22] {
            bomb.replaceSubrange(place..<(place + 4), with: [0x30, 0x75, 0, 0])
        }
        #expect(failure(bomb)?.details["limit"] == "pixelsMax")
        #expect(throws: Never.self) { try decode(Array(bmp.prefix(54)), .header) }
    }

    @Test func whatIsForPrintersIsRefused() throws {
        var file = try ExternalFiles.bmp(ExternalFiles.png(), [], version: "BMP3:")
        file[30] = 4
        #expect(failure(file)?.code == .unsupportedFormat)
    }

    // MARK: - Icons

    @Test(arguments: [false, true])
    func theLargestImageOfAnIconIsDecoded(isPNG: Bool) throws {
        let small = try [
            ExternalFiles.square(16, [9, 9, 9]), ExternalFiles.square(32, [7, 7, 7]),
        ]
        let large = try ExternalFiles.square(64, [200, 40, 30, 100])
        let file = try ExternalFiles.icon(
            bitmaps: small + (isPNG ? [] : [large]), raw: isPNG ? [large] : [])
        let decoded = try decode(file)
        let size = PixelSize(width: 64, height: 64)
        #expect(
            decoded.image.info == ImageInfo(format: .ico, size: size, pages: 3, hasAlpha: true))
        #expect(try decoded.pixel(30, 30) == [200, 40, 30, 100])
    }

    /// The dimensions in the directory may be wrong.
    @Test func theImagesThemselvesSayHowLargeTheyAre() throws {
        var file = try ExternalFiles.icon(
            bitmaps: [ExternalFiles.square(16, [9, 9, 9]), ExternalFiles.square(32, [7, 7, 7])])
        (file[6], file[7]) = (255, 255)
        let decoded = try decode(file)
        #expect(decoded.image.info.size == PixelSize(width: 32, height: 32))
        #expect(try decoded.pixel(20, 20) == [7, 7, 7, 255])
    }

    @Test func theMaskOfAnIconIsItsAlpha() throws {
        let png = try Sources.encoded(.png(compression: 1), 20, 20, bands: 4) { x, _, band in
            band == 3 ? (x < 10 ? 0 : 255) : 90
        }
        let folder = TemporaryDirectory()
        let (input, output) = (folder.write(png, to: "a.png"), folder.file("a.ico"))
        try Tool.run(["icotool", "-c", "-b", "4", "-o", output, input])
        let decoded = try decode(try #require(FileBytes.read(output)))
        #expect(try decoded.pixel(5, 5)[3] == 0)
        #expect(try decoded.pixel(15, 5) == [90, 90, 90, 255])
    }

    @Test func anIconOfPillowBecomesItsPixels() throws {
        let decoded = try decode(
            ExternalFiles.pillow(
                ExternalFiles.square(48, [200, 40, 30]), as: "a.ico", mode: "RGBA"))
        #expect(decoded.image.info.size == PixelSize(width: 48, height: 48))
        #expect(try decoded.pixel(24, 24) == [200, 40, 30, 255])
    }

    @Test func imagesOfAnIconCountAsPages() throws {
        let file = try ExternalFiles.icon(
            bitmaps: [ExternalFiles.square(16, [9, 9, 9]), ExternalFiles.square(32, [7, 7, 7])])
        let error = failure(file, .header, limits: ImageLimits(pagesMax: 1))
        #expect(error?.details["limit"] == "pagesMax")
        // Only the pixels of one image count.
        #expect(throws: Never.self) { try decode(file, limits: ImageLimits(pixelsMax: 32 * 32)) }
    }

    private func expectColors(of decoded: Decoded, within tolerance: Int) throws {
        for ((x, y), color) in zip(ExternalFiles.middles(), ExternalFiles.colors) {
            let pixel = try decoded.pixel(x, y)
            let isNear = zip(pixel, color).allSatisfy { abs(Int($0) - $1) <= tolerance }
            #expect(pixel.count == 3 && isNear, "\(pixel) for \(color)")
        }
    }
}
