import Model
import StageKit
import TestKit
import Testing
import Vips

@testable import Decoding

/// Profiles that are kept with their pixels.
@Suite struct KeptProfileTests {
    private static let all: KeptParts = [.profile, .grayProfile]

    private static func samples(bands: Int) -> [UInt8] {
        (0..<(48 * 32 * bands)).map { UInt8($0 * 37 % 256) }
    }

    /// A file of those samples, 48 × 32 pixels, with that profile, written by Pillow.
    private static func file(
        _ name: String, _ mode: String, _ samples: [UInt8], profile: [UInt8]
    ) throws -> [UInt8] {
        let folder = TestKit.TemporaryDirectory()
        let output = folder.file(name)
        try Tool.run([
            "python3", "-c",
            """
            import sys; from PIL import Image
            Image.frombytes(sys.argv[1], (48, 32), open(sys.argv[2], 'rb').read()).save(
                sys.argv[4], icc_profile=open(sys.argv[3], 'rb').read())
            """, mode, folder.write(samples, to: "a"), folder.write(profile, to: "p"), output,
        ])
        return try #require(FileBytes.read(output))
    }

    private func part(_ kind: EmbeddedMetadata.Kind, of decoded: Decoded) throws -> [UInt8]? {
        let layout = try #require(decoded.layout)
        guard let found = layout.embeddedMetadata.first(where: { $0.kind == kind }) else {
            return nil
        }
        let pixels = try #require(layout.pixelByteCount)
        #expect(found.offset >= pixels, "it follows the pixels")
        return Array(decoded.samples[found.offset..<(try #require(found.end))])
    }

    @Test(arguments: [("a.png", "RGB", 3), ("a.tif", "RGB", 3), ("a.png", "RGBA", 4)])
    func numbersStayAsTheyAre(name: String, mode: String, bands: Int) throws {
        let samples = Self.samples(bands: bands)
        let file = try Self.file(name, mode, samples, profile: TestProfile.rotatedRGB)
        let kept = try decode(file, keeping: Self.all)
        #expect(Array(kept.samples.prefix(samples.count)) == samples)
        #expect(try part(.profile, of: kept) == TestProfile.rotatedRGB)
        let converted = try decode(file)
        #expect(Array(converted.samples.prefix(samples.count)) != samples)
        #expect(converted.layout?.embeddedMetadata == [])
    }

    @Test func graysStayWhereTheResultHoldsTheirProfile() throws {
        let samples = Self.samples(bands: 1)
        let file = try Self.file("a.png", "L", samples, profile: TestProfile.gray)
        let kept = try decode(file, keeping: Self.all)
        #expect(Array(kept.samples.prefix(samples.count)) == samples)
        #expect(try part(.profile, of: kept) == TestProfile.gray)
        let converted = try decode(file, keeping: .profile)
        #expect(try part(.profile, of: converted) == nil)
        #expect(converted.samples != samples)
    }

    /// The planes of a JPEG need not be merged if its colors aren't converted.
    @Test func aJPEGStaysInPlanes() throws {
        let plain = try Sources.encoded(.jpeg(quality: 90), 64, 48) { x, y, band in
            x * 3 + y * band
        }
        let file = plain.withProfile(TestProfile.rotatedRGB)
        #expect(try decode(file).layout?.isPlanar == false)
        let kept = try decode(file, keeping: .profile)
        #expect(kept.layout?.isPlanar == true)
        #expect(try part(.profile, of: kept) == TestProfile.rotatedRGB)
        for (x, y) in [(3, 3), (40, 11), (60, 40)] {
            #expect(try kept.pixel(x, y) == decode(plain).pixel(x, y))
        }
    }

    /// CMYK is always converted to sRGB.
    @Test func aProfileOfInksIsNotKept() throws {
        let samples = Self.samples(bands: 4)
        let file = try Self.file("a.tif", "CMYK", samples, profile: TestProfile.oddInks)
        let kept = try decode(file, keeping: Self.all)
        #expect(kept.layout?.embeddedMetadata == [])
        #expect(kept.samples == (try decode(file)).samples)
    }

    /// Invalid profiles, profiles above 4 MiB, and profiles for other samples.
    @Test func whatCannotBeKeptIsConverted() throws {
        let samples = Self.samples(bands: 3)
        // The first four bytes are its size.
        let large =
            [0, 0x40, 1, 0] + TestProfile.rotatedRGB.dropFirst(4)
            + [UInt8](repeating: 0, count: 4 << 20)
        for profile in [large, TestProfile.gray, Array(TestProfile.rotatedRGB.prefix(130))] {
            let file = try Self.file("a.png", "RGB", samples, profile: profile)
            let kept = try decode(file, keeping: Self.all)
            #expect(kept.layout?.embeddedMetadata == [])
            #expect(kept.samples == (try decode(file)).samples)
        }
    }

    @Test func withoutAProfileNothingChanges() throws {
        let file = try Sources.marked(.png(compression: 1), 40, 30)
        let kept = try decode(file, keeping: Self.all)
        #expect(kept.layout?.embeddedMetadata == [])
        #expect(kept.samples == (try decode(file)).samples)
    }
}
