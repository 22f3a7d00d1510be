import Model
import TestKit
import Testing

/// HEIC image sequences: their frames aren't treated as an animation; the primary image is decoded.
@Suite struct HEICSequenceTests {
    /// A still image from `heif-enc`, followed by the track of an AVIF sequence, which no decoder
    /// reads.
    private static func sequence(_ brand: String) throws -> [UInt8] {
        var bytes = try ExternalFiles.heif(ExternalFiles.png(), isAVIF: false)
        bytes.replaceSubrange(8..<12, with: Array(brand.utf8))
        let other = try AnimatedFile(generated: "two.avif").bytes
        let start =
            try #require(
                other.indices.dropLast(4).first { other[$0...].starts(with: "moov".utf8) }) - 4
        let count = Int(other[start + 2]) << 8 | Int(other[start + 3])
        return bytes + other[start..<start + count]
    }

    @Test(arguments: ["hevc", "msf1"])
    func theImageIsDecodedAndIsNoAnimation(brand: String) throws {
        let decoded = try decode(Self.sequence(brand))
        #expect(decoded.image.info.pages == 1)
        #expect(decoded.image.info.frames == 1)
        #expect(decoded.image.info.size == PixelSize(width: 48, height: 32))
        for (middle, color) in zip(ExternalFiles.middles(), ExternalFiles.colors) {
            for (found, wanted) in zip(try decoded.pixel(middle.x, middle.y), color) {
                #expect(abs(Int(found) - wanted) < 12)
            }
        }
    }

    /// A still image may come with a sequence.
    @Test func aStillImageHasNoFrames() throws {
        #expect(try decode(Self.sequence("heic")).image.info.pages == 1)
    }

    @Test(arguments: ["hevc", "msf1"])
    func aSequenceWithoutAnImageIsRefusedByName(brand: String) throws {
        var bytes = try Self.sequence(brand)
        let meta = try #require(
            bytes.indices.dropLast(4).first { bytes[$0...].starts(with: "meta".utf8) })
        bytes.replaceSubrange(meta..<meta + 4, with: Array("free".utf8))
        let error = failure(bytes)
        #expect(error?.code == .unsupportedFormat)
        #expect(error?.message.contains("no primary image") == true)
    }
}
