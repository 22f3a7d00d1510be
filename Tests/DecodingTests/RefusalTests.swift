import Model
import StageKit
import Testing
import Vips

@Suite struct RefusalTests {
    static let noImages: [[UInt8]] = [
        [], [0xFF], [0x00], Array("hello, this is not an image".utf8),
        [UInt8](repeating: 0xFF, count: 5000), [UInt8](repeating: 0x89, count: 100),
        Array("GIF89a".utf8), Array("RIFF....WEBPVP8 ".utf8),
    ]

    @Test(arguments: noImages)
    func whatIsNoImageIsBadData(bytes: [UInt8]) {
        for need in [DecodeNeed.header, .full] {
            #expect(failure(bytes, need)?.code == .badImageData)
        }
    }

    @Test(
        arguments: [
            (Array("FUJIFILMCCD-RAW 0201".utf8), "raw", "camera RAW files"),
            (dng, "raw", "camera RAW files"),
            (Array("8BPS\0\u{1}".utf8), "psd", "Photoshop documents"),
            ([0xFF, 0x4F, 0xFF, 0x51, 0], "jpeg2000", "JPEG 2000 images"),
            ([0x76, 0x2F, 0x31, 0x01, 2], "exr", "OpenEXR images"),
            (Array("qoif\0\0".utf8), "qoi", "QOI images"),
            (Array("\0\0\0\u{20}ftypisom".utf8), "mp4", "MP4 video"),
        ] as [([UInt8], String, String)])
    func whatIsKnownButNotDecodedIsRefusedByName(bytes: [UInt8], name: String, title: String) {
        let isVideo = title.hasSuffix("video")
        let remedy = isVideo ? "extract a frame and save it as" : "convert it to"
        for need in [DecodeNeed.header, .full] {
            let error = failure(bytes, need)
            #expect(error?.code == .unsupportedFormat)
            #expect(error?.details["format"] == name)
            #expect(
                error?.message
                    == "this version does not decode \(title): \(remedy) a supported "
                    + "format: jpeg, png, gif, tiff, webp, heic, heif, bmp, avif, jxl, ico")
        }
    }

    /// A TIFF directory with one entry, the DNG version.
    private static let dng: [UInt8] =
        Array("II*\0".utf8) + [8, 0, 0, 0, 1, 0, 0x12, 0xC6, 1, 0, 4, 0, 0, 0, 1, 4, 0, 0]
        + [0, 0, 0, 0]

    /// Texts of error pages served in place of an image, and other texts.
    @Test(arguments: ["Internal Server Error", "Moved Permanently", "Bad Gateway", "BZh91AY"])
    func aTextThatBeginsLikeASignatureIsNoImage(text: String) {
        #expect(failure(Array(text.utf8))?.code == .badImageData)
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
        // Half of the pixels are missing, so decoding them fails with badImageData.
        bytes.removeLast(bytes.count / 2)
        #expect(throws: Never.self) { try decode(bytes, .header) }
        #expect(failure(bytes)?.code == .badImageData)
        #expect(failure(bytes, limits: ImageLimits(sideMax: 99))?.code == .limitExceeded)
    }

    /// Limits apply to each frame, regardless of how many are decoded.
    @Test func pagesAreLimitedAndTheirPixelsDoNotAddUp() throws {
        #expect(
            failure(twoFrameGIF, limits: ImageLimits(pagesMax: 1))?.details["limit"] == "pagesMax")
        for need in [DecodeNeed.header, .full] {
            let image = try decode(twoFrameGIF, need, limits: ImageLimits(pixelsMax: 2)).image
            #expect(image.info.pages == 2)
            #expect(
                failure(twoFrameGIF, need, limits: ImageLimits(pixelsMax: 1))?.details["limit"]
                    == "pixelsMax")
        }
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
