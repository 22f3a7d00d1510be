import Model
import StageKit
import TestKit
import Testing

/// Colors converted by a profile, compared with Little CMS (Pillow's `ImageCms`) and libvips' sRGB
/// profile.
@Suite struct ColorExactnessTests {
    private static let side = 64

    /// Each sample takes many values in combination with many of the others.
    private static func samples(_ bands: Int) -> [UInt8] {
        var samples: [UInt8] = []
        for y in 0..<side {
            for x in 0..<side {
                let all = [x * 4 + x / 16, y * 4 + y / 16, (x * 7 + y * 13) % 256, x * y % 256]
                samples += all.prefix(bands).map { UInt8($0) }
            }
        }
        return samples
    }

    /// A TIFF of samples with a profile, and the samples converted by Little CMS.
    private static func reference(
        _ mode: String, _ profile: String, in folder: TestKit.TemporaryDirectory
    ) throws -> (file: [UInt8], samples: [UInt8]) {
        let bands = mode == "CMYK" ? 4 : 3
        let (file, raw) = (folder.file("a.tif"), folder.file("b"))
        let sRGB = folder.write(try ExternalProfile.named("srgb"), to: "srgb.icc")
        try Tool.run([
            "python3", "-c",
            """
            import sys; from PIL import Image, ImageCms
            mode, samples, profile, srgb, file, raw = sys.argv[1:]
            im = Image.frombytes(mode, (\(side), \(side)), open(samples, 'rb').read())
            im.save(file, icc_profile=open(profile, 'rb').read())
            made = ImageCms.profileToProfile(
                im, profile, srgb, renderingIntent=1, outputMode='RGB')
            open(raw, 'wb').write(made.tobytes())
            """, mode, folder.write(samples(bands), to: "s"), profile, sRGB, file, raw,
        ])
        return (try #require(FileBytes.read(file)), try #require(FileBytes.read(raw)))
    }

    /// The largest difference of any sample.
    private func difference(_ mode: String, _ profile: String) throws -> Int {
        let folder = TestKit.TemporaryDirectory()
        let bytes =
            profile == "rotated" ? TestProfile.rotatedRGB : try ExternalProfile.named(profile)
        let path = folder.write(bytes, to: "p.icc")
        let (file, wanted) = try Self.reference(mode, path, in: folder)
        let found = try decode(file).samples
        try #require(found.count == wanted.count)
        #expect(Set(wanted).count > 200, "it isn't a flat image")
        return zip(found, wanted).map { abs(Int($0) - Int($1)) }.max() ?? .max
    }

    @Test(arguments: [("RGB", "p3"), ("RGB", "rotated"), ("CMYK", "cmyk")])
    func colorsAreThoseOfLittleCMS(mode: String, profile: String) throws {
        #expect(try difference(mode, profile) == 0)
    }
}
