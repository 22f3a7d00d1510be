import Model
import StageKit
import TestKit
import Testing
import Vips

@testable import Transforming

/// A small JPEG in the EXIF of a JPEG, as read by ExifTool.
@Suite struct EmbeddedThumbnailTests {
    /// One entry, the copyright, in either byte order, followed by what used to be a directory.
    private static let kept: [[UInt8]] = [
        [0x49, 0x49, 42, 0, 8, 0, 0, 0, 1, 0, 0x98, 0x82, 2, 0, 7, 0, 0, 0, 26, 0, 0, 0]
            + [0, 0, 0, 0] + Array("(c) Ad\0".utf8),
        [0x4D, 0x4D, 0, 42, 0, 0, 0, 8, 0, 1, 0x82, 0x98, 0, 2, 0, 0, 0, 7, 0, 0, 0, 26]
            + [0, 0, 0, 0] + Array("(c) Ad\0".utf8),
    ]

    private func jpeg(_ source: Source, _ change: (inout OutputOptions) -> Void = { _ in }) throws
        -> Transformed
    {
        try transform(
            source, [],
            output: output(.jpeg) {
                $0.embedsThumbnail = true
                change(&$0)
            })
    }

    private func exiftool(_ words: [String], _ bytes: [UInt8]) throws -> [UInt8] {
        try Tool.run(["exiftool"] + words + ["-"], input: bytes)
    }

    /// All embedded thumbnails, one after the other.
    private func thumbnails(_ bytes: [UInt8]) throws -> [UInt8] {
        try exiftool(["-a", "-b", "-ThumbnailImage"], bytes)
    }

    private static func gradient(_ width: Int, _ height: Int, _ bands: PixelPlane.Bands) -> Source {
        Source(width, height, bands, format: .jpeg) { x, y, band in
            band == 3 ? 255 : (x * (3 - band) + y * (band + 1)) * 255 / (3 * (width + height))
        }
    }

    private static func planar(_ width: Int, _ height: Int) -> Source {
        .planar(width, height, blue: 100, red: 170) { x, y in (x + y) * 255 / (width + height) }
    }

    @Test func itShowsTheResultAndIsAloneThere() throws {
        for (source, size) in [
            (Self.gradient(640, 400, .rgb), "160x100"), (Self.gradient(64, 48, .rgb), "64x48"),
            (Self.gradient(100, 500, .gray), "32x160"), (Self.gradient(320, 320, .rgba), "160x160"),
            (Self.planar(640, 400), "160x100"), (Self.planar(31, 1_601), "3x160"),
        ] {
            let produced = try jpeg(source)
            let small = try thumbnails(produced.bytes)
            // Baseline, with nothing between the start marker and its tables.
            #expect(small.starts(with: [0xFF, 0xD8, 0xFF, 0xDB]))
            #expect(try properties(small, "-s3", "-ImageSize") == size)
            let process = try properties(small, "-s3", "-EncodingProcess")
            #expect(process == "Baseline DCT, Huffman coding")
            let folder = TestKit.TemporaryDirectory()
            folder.write(produced.bytes, to: "large.jpg")
            folder.write(small, to: "small.jpg")
            let difference = try Tool.run(
                [
                    "convert-im6.q16", folder.file("large.jpg"), "-resize", size + "!",
                    folder.file("small.jpg"), "-metric", "MAE", "-compare", "-format",
                    "%[distortion]", "info:",
                ])
            let mean = try #require(Double(String(decoding: difference, as: UTF8.self)))
            #expect(mean < 0.02, "\(size): \(mean)")
            // The main image is the same as without.
            let plain = try transform(source, [], output: output(.jpeg))
            #expect(produced.samples == plain.samples)
            #expect(try thumbnails(plain.bytes).isEmpty)
        }
    }

    @Test(arguments: 0...1)
    func keptMetadataIsBesideIt(order: Int) throws {
        for source in [Self.gradient(300, 200, .rgb), Self.planar(300, 200)] {
            let produced = try jpeg(source.with([(.exif, Self.kept[order])]))
            #expect(try properties(produced.bytes, "-s3", "-Copyright") == "(c) Ad")
            #expect(try properties(produced.bytes, "-s3", "-ThumbnailLength") != "")
            #expect(try !thumbnails(produced.bytes).isEmpty)
            #expect(try properties(produced.bytes, "-s3", "-warning") == "")
        }
    }

    @Test func itsBytesCountForTheLimitOfBytes() throws {
        let source = Self.planar(600, 400)
        let free = try jpeg(source) { $0.quality = 95 }
        let limit = free.bytes.count - 100
        let produced = try jpeg(source) { ($0.quality, $0.maxBytes) = (95, limit) }
        #expect(produced.bytes.count <= limit)
        #expect(try thumbnails(produced.bytes) == thumbnails(free.bytes))
    }

    @Test func whatHasNoRoomIsRefused() throws {
        let long = Self.kept[0] + [UInt8](repeating: 7, count: 65_400)
        let source = Self.gradient(300, 200, .rgb).with([(.exif, long)])
        let error = #expect(throws: ImageError.self) { try jpeg(source) }
        #expect(error?.code == .limitExceeded)
        #expect(error?.message.contains("leave out embed-thumbnail") == true)
    }

    /// Without a named format, a result whose format has no place for a thumbnail has none.
    @Test(arguments: [ImageFormat.png, .webp, .avif])
    func otherFormatsHaveNone(format: ImageFormat) throws {
        let produced = try transform(
            Self.gradient(200, 200, .rgb), [],
            output: output(format) { $0[.embedThumbnail] = 1 })
        #expect(try thumbnails(produced.bytes).isEmpty)
    }

    private func properties(_ bytes: [UInt8], _ words: String...) throws -> String {
        let output = String(decoding: try exiftool(words, bytes), as: UTF8.self)
        return output.split(separator: "\n").joined(separator: "\n")
    }
}
