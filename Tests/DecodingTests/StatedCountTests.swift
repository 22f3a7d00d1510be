import Model
import TestKit
import Testing
import Vips

@testable import Decoding

/// Wrong frame and page counts that matter only for animations.
@Suite struct StatedCountTests {
    /// A PNG whose acTL chunk declares that many frames.
    private static func png(frames: UInt32) throws -> [UInt8] {
        var bytes = try Sources.encoded(.png(compression: 6), 40, 30) { x, y, _ in x + y }
        let numbers: [UInt8] = (0..<4).map { UInt8(truncatingIfNeeded: frames >> (24 - 8 * $0)) }
        let chunk = Array("acTL".utf8) + numbers + [0, 0, 0, 0]
        bytes.insert(contentsOf: [0, 0, 0, 8] + chunk + PNGChecksum.of(chunk), at: 33)
        return bytes
    }

    /// Expects the pixels that Pillow reads from the file, and returns its number of images.
    private static func imagesByPillow(_ bytes: [UInt8]) throws -> Int? {
        let folder = TemporaryDirectory()
        let raw = folder.file("raw")
        let count = try Tool.run([
            "python3", "-W", "ignore", "-c",
            """
            import sys; from PIL import Image
            image = Image.open(sys.argv[1])
            open(sys.argv[2], 'wb').write(image.convert('RGB').tobytes())
            print(getattr(image, 'n_frames', 1))
            """, folder.write(bytes, to: "file"), raw,
        ])
        let wanted = try #require(FileBytes.read(raw))
        let decoded = try decode(bytes)
        let size = decoded.image.info.size
        try #require(wanted.count == 3 * size.width * size.height)
        let isSame = try (0..<size.width * size.height).allSatisfy { place in
            try decoded.pixel(place % size.width, place / size.width)
                .elementsEqual(wanted[3 * place..<3 * place + 3])
        }
        #expect(isSame)
        return Int(String(decoding: count.prefix { $0 > 0x20 }, as: UTF8.self))
    }

    /// Chromium draws all of them as still images. Pillow does if the number is invalid, and else
    /// trusts it.
    @Test(arguments: [0, 20_000, 1 << 31 - 1, 1 << 31 + 1] as [UInt32])
    func aPNGWithoutSoManyFramesIsAStillImage(frames: UInt32) throws {
        let bytes = try Self.png(frames: frames)
        for need in [DecodeNeed.header, .full] {
            let info = try decode(bytes, need).image.info
            #expect(info.pages == 1 && info.size == PixelSize(width: 40, height: 30))
        }
        let count = try Self.imagesByPillow(bytes)
        if frames == 0 || frames > 1 << 31 { #expect(count == 1) }
    }

    /// The only directory links to itself.
    @Test func pagesInACycleCountOnce() throws {
        var tiff = try ExternalFiles.tiff()
        try #require(Array(tiff.prefix(4)) == Array("II*\0".utf8))
        let start = Int(tiff[4]) | Int(tiff[5]) << 8 | Int(tiff[6]) << 16
        let next = start + 2 + 12 * (Int(tiff[start]) | Int(tiff[start + 1]) << 8)
        tiff.replaceSubrange(next..<next + 4, with: tiff[4..<8])
        for need in [DecodeNeed.header, .full] {
            #expect(try decode(tiff, need).image.info.pages == 1)
        }
        #expect(try Self.imagesByPillow(tiff) == 1)
    }
}
