import Model
import TestKit
import Testing

/// How third-party profiles are classified.
@Suite struct SampleProfileTests {
    private func read(_ bytes: [UInt8], _ space: ProfileSpace = .rgb) throws -> SampleProfile {
        try #require(bytes.withUnsafeBytes { SampleProfile($0, for: space) })
    }

    /// A profile of Little CMS, which defines the curve by a function.
    private static func byLittleCMS() throws -> [UInt8] {
        try Tool.run([
            "python3", "-c",
            """
            import sys; from PIL import ImageCms
            profile = ImageCms.ImageCmsProfile(ImageCms.createProfile('sRGB'))
            sys.stdout.buffer.write(profile.tobytes())
            """,
        ])
    }

    /// The profile of libvips defines the curve by a table.
    @Test func sRGBIsKnownByItsTags() throws {
        #expect(try read(ExternalProfile.named("srgb")).isSRGB)
        #expect(try read(Self.byLittleCMS()).isSRGB)
        #expect(try !read(ExternalProfile.named("p3")).isSRGB)
        #expect(try !read(ExternalProfile.named("cmyk"), .cmyk).isSRGB)
    }

    /// The header still says sRGB, but one tag differs.
    @Test(arguments: ["rXYZ", "gXYZ", "bXYZ", "rTRC", "gTRC", "bTRC"])
    func anyOtherTagIsAnotherSpace(tag: String) throws {
        var bytes = try Self.byLittleCMS()
        bytes.replaceSubrange(48..<56, with: "IEC sRGB".utf8)
        #expect(try read(bytes).isSRGB)
        let entry = try #require(
            (0..<20).map { 132 + 12 * $0 }.first {
                bytes[$0..<($0 + 4)].elementsEqual(tag.utf8)
            })
        let start = bytes[(entry + 4)..<(entry + 8)].reduce(0) { $0 << 8 | Int($1) }
        // The first number of a color, or the exponent of a function.
        bytes[start + (tag.hasSuffix("XYZ") ? 8 : 12) + 2] ^= 0x60
        #expect(try !read(bytes).isSRGB)
    }

    @Test func aDamagedProfileIsNotSRGB() throws {
        let bytes = try ExternalProfile.named("srgb")
        for count in stride(from: 129, to: bytes.count, by: 61) {
            var part = Array(bytes.prefix(count))
            part.replaceSubrange(..<4, with: [0, 0, 0, 0])
            _ = try read(part).isSRGB
            _ = try read(part).isPerceptualOnly
        }
    }

    @Test func onlyTablesOfOneIntentNeedIt() throws {
        #expect(try !read(ExternalProfile.named("cmyk"), .cmyk).isPerceptualOnly)
        #expect(try !read(ExternalProfile.named("srgb")).isPerceptualOnly)
        var bytes = try ExternalProfile.named("cmyk")
        for entry in (0..<20).map({ 132 + 12 * $0 })
        where bytes[entry..<(entry + 4)].elementsEqual("A2B1".utf8) {
            bytes.replaceSubrange(entry..<(entry + 4), with: "A2Bx".utf8)
        }
        #expect(try read(bytes, .cmyk).isPerceptualOnly)
    }
}
