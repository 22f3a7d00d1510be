import Glibc
import Model
import StageKit
import TestKit
import Testing

/// Profiles for another color space than that of the pixels are ignored.
@Suite struct OtherSpaceTests {
    /// A file by Pillow or `avifenc`, with and without the profile.
    private static func files(
        _ name: String, _ mode: String, profile: [UInt8]
    ) throws -> (with: [UInt8], without: [UInt8]) {
        let folder = TemporaryDirectory()
        let samples = ExternalFiles.samples(bands: mode == "L" ? 1 : 3)
        let (raw, icc) = (folder.write(samples, to: "raw"), folder.write(profile, to: "icc"))
        let (with, without) = (folder.file("with-\(name)"), folder.file("without-\(name)"))
        let isAVIF = name.hasSuffix("avif")
        let script = """
            import sys; from PIL import Image
            mode, raw, icc, *outputs = sys.argv[1:]
            image = Image.frombytes(mode, (48, 32), open(raw, 'rb').read())
            image.save(outputs[0], icc_profile=open(icc, 'rb').read())
            image.save(outputs[1])
            """
        let plain = isAVIF ? [folder.file("a.png"), folder.file("b.png")] : [with, without]
        try Tool.run(["python3", "-c", script, mode, raw, icc] + plain)
        if isAVIF {
            try Tool.run(["avifenc", "--icc", icc, plain[1], with])
            try Tool.run(["avifenc", plain[1], without])
        }
        return (try #require(FileBytes.read(with)), try #require(FileBytes.read(without)))
    }

    @Test(arguments: ["a.jpg", "a.webp", "a.tif", "a.avif"])
    func aGrayProfileChangesNoColor(name: String) throws {
        for profile in [TestProfile.gray, TestProfile.oddInks] {
            let (with, without) = try Self.files(name, "RGB", profile: profile)
            #expect(with.count > without.count, "it has the profile")
            let (found, wanted) = (try decode(with), try decode(without))
            #expect(found.samples == wanted.samples)
            #expect(found.layout == wanted.layout, "it stays in planes if it has some")
            let kept = try decode(with, keeping: [.profile, .grayProfile])
            #expect(kept.layout?.embeddedMetadata == [])
        }
    }

    @Test(arguments: ["a.jpg", "a.tif"])
    func aProfileOfInksChangesNoGray(name: String) throws {
        let (with, without) = try Self.files(name, "L", profile: TestProfile.oddInks)
        #expect(try decode(with).samples == decode(without).samples)
    }

    /// Gray is converted as three equal samples; the result differs because the profile's curve
    /// does.
    @Test func aProfileOfColorsExplainsGray() throws {
        let (with, without) = try Self.files("a.jpg", "L", profile: TestProfile.rotatedRGB)
        let (found, plain) = (try decode(with), try decode(without))
        #expect(found.plane?.bands == .gray)
        for (x, y) in ExternalFiles.middles() {
            let (pixel, sample) = (try found.pixel(x, y)[0], try plain.pixel(x, y)[0])
            let light = pow(Double(sample) / 255, 2.2)
            let coded = light <= 0.0031308 ? 12.92 * light : 1.055 * pow(light, 1 / 2.4) - 0.055
            #expect(abs(Double(pixel) - 255 * coded) < 2)
        }
    }
}
