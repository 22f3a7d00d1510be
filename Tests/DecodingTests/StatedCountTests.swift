import ImageModel
import Messages
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

    /// Chromium draws all of them as still images.
    @Test(arguments: [0, 20_000, 1 << 31 - 1, 1 << 31 + 1] as [UInt32])
    func aPNGWithoutSoManyFramesIsAStillImage(frames: UInt32) throws {
        let bytes = try Self.png(frames: frames)
        for need in [DecodeNeed.header, .full] {
            let info = try decode(bytes, need).image.info
            #expect(info.pages == 1 && info.size == PixelSize(width: 40, height: 30))
        }
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
    }
}
