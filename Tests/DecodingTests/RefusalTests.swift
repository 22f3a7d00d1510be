import ImageModel
import Messages
import StageContract
import StageKit
import Testing
import Vips

@Suite struct RefusalTests {
    static let noImages: [[UInt8]] = [
        [], [0xFF], [0x00], Array("hello, this is no image at all".utf8),
        [UInt8](repeating: 0xFF, count: 5000), [UInt8](repeating: 0x89, count: 100),
        Array("GIF89a".utf8), Array("RIFF....WEBPVP8 ".utf8),
    ]

    @Test(arguments: noImages)
    func whatIsNoImageIsBadData(bytes: [UInt8]) {
        for need in [DecodeNeed.header, .full] {
            #expect(failure(bytes, need)?.code == .badImageData)
        }
    }

    @Test(arguments: [
        ("BM", "bmp"), ("II*\u{0}", "tiff"), ("%PDF-1.4", "pdf"),
        ("\u{0}\u{0}\u{0}\u{1C}ftypavif", "avif"),
    ])
    func whatIsKnownButNotDecodedIsUnsupported(start: String, format: String) {
        let error = failure(Array(start.utf8), .header)
        #expect(error?.code == .unsupportedFormat)
        #expect(error?.details["format"] == format)
    }

    @Test(arguments: [
        VipsEncoding.jpeg(quality: 90), .jpeg(quality: 90, progressive: true),
        .png(compression: 6), .png(compression: 6, interlaced: true), .webp(quality: 90),
        .webp(quality: 90, lossless: true),
    ])
    func whatEndsEarlyIsBadData(encoding: VipsEncoding) throws {
        let bytes = try Sources.encoded(encoding, 200, 200) { x, y, band in
            (x * y * (band + 3)) % 251
        }
        #expect(throws: Never.self) { try decode(bytes) }
        for part in [0.3, 0.6, 0.9] {
            let cut = Array(bytes.prefix(Int(Double(bytes.count) * part)))
            #expect(failure(cut)?.code == .badImageData, "\(part)")
        }
    }

    @Test func limitsAreCheckedOnTheHeader() throws {
        var bytes = try Sources.encoded(.png(compression: 6), 100, 80) { x, _, _ in x }
        for (limits, name) in [
            (ImageLimits(sideMax: 99), "sideMax"), (ImageLimits(pixelsMax: 7999), "pixelsMax"),
            (ImageLimits(pixelBytesMax: 23_999), "pixelBytesMax"),
        ] {
            let error = failure(bytes, limits: limits)
            #expect(error?.code == .limitExceeded)
            #expect(error?.details["limit"] == name)
        }
        let enough = ImageLimits(
            sideMax: 100, pixelsMax: 8000, pixelBytesMax: 24_000, pagesMax: 1)
        #expect(throws: Never.self) { try decode(bytes, limits: enough) }
        // Pixels are missing, so whoever asks for them gets badImageData.
        bytes.removeLast(bytes.count / 2)
        #expect(throws: Never.self) { try decode(bytes, .header) }
        #expect(failure(bytes)?.code == .badImageData)
        #expect(failure(bytes, limits: ImageLimits(sideMax: 99))?.code == .limitExceeded)
    }

    @Test func pagesAreLimitedAndCountAsPixels() {
        #expect(
            failure(twoFrameGIF, limits: ImageLimits(pagesMax: 1))?.details["limit"] == "pagesMax")
        #expect(
            failure(twoFrameGIF, limits: ImageLimits(pixelsMax: 3))?.details["limit"]
                == "pixelsMax")
    }

    @Test func pixelBytesCountAfterReduction() throws {
        let bytes = try Sources.encoded(.jpeg(quality: 80), 800, 800) { x, _, _ in x / 4 }
        let limits = ImageLimits(pixelBytesMax: 100 * 100 * 3)
        #expect(failure(bytes, limits: limits)?.code == .limitExceeded)
        let need = DecodeNeed.cover(PixelSize(width: 100, height: 100), .fit)
        #expect(throws: Never.self) { try decode(bytes, need, limits: limits) }
    }

    @Test func noSpaceIsArenaFull() throws {
        let bytes = try Sources.encoded(.png(compression: 1), 10, 10) { x, _, _ in x }
        #expect(failure(bytes, space: HeapSpace(bytesMax: 299))?.code == .arenaFull)
        #expect(throws: Never.self) { try decode(bytes, space: HeapSpace(bytesMax: 300)) }
    }
}
