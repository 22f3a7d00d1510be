import Model
import StageKit
import TestKit
import Testing
import Vips

@testable import Decoding

/// Orientation, profile and bit depth.
@Suite struct HeaderFactTests {
    private func header(_ bytes: [UInt8]) throws -> ImageProperties {
        try properties(of: bytes, RequestedProperties(.header))
    }

    @Test(arguments: 1...8)
    func theOrientationIsThatOfTheFile(orientation: Int) throws {
        let jpeg = try Sources.marked(.jpeg(quality: 90), 40, 24)
        #expect(try header(jpeg.withEXIF(orientation: orientation)).orientation == orientation)
        #expect(try header(jpeg).orientation == nil)
    }

    @Test func bitsAreThoseOfTheFile() throws {
        let png = try Sources.encoded(.png(compression: 1), 8, 8) { x, _, _ in x }
        #expect(try header(png).bitsPerSample == 8)
        let deep = try ExternalFiles.tiff(
            ExternalFiles.doubled(ExternalFiles.samples()), depth: "short")
        #expect(try header(deep).bitsPerSample == 16)
    }

    /// According to `identify` and `heif-info`: a palette of 16 colors, 10 bits.
    @Test(
        .enabled(if: Fixtures.folder != nil, "needs IMAGEBUS_FIXTURES"),
        arguments: [("IndexedPNG.png", 4), ("RGBA16PNG.png", 16), ("TestHDR.avif", 10)])
    func bitsOfFixturesAreWhatOtherToolsSay(name: String, bits: Int) throws {
        #expect(try header(try Fixtures.read("images/\(name)")).bitsPerSample == bits)
    }

    /// The same names as `ImageCms.getProfileDescription` of Pillow 13.0: the first is ASCII, the
    /// second in several languages.
    @Test(
        .enabled(if: Fixtures.folder != nil, "needs IMAGEBUS_FIXTURES"),
        arguments: [
            ("TestICCProfile.jpg", "Test profile to check both workflows"),
            ("TestJFIF.jpg", "Display P3"), ("TestHDR.jpeg", "sRGB"),
            ("TestImage.heic", "sRGB IEC61966-2.1"),
        ])
    func profilesOfFixturesHaveTheNamesThatPillowSays(name: String, profile: String) throws {
        #expect(try header(try Fixtures.read("images/\(name)")).profile == profile)
    }

    @Test func anImageWithoutAProfileHasNoName() throws {
        let png = try Sources.encoded(.png(compression: 1), 8, 8) { x, _, _ in x }
        #expect(try header(png).profile == nil)
        let jpeg = try Sources.marked(.jpeg(quality: 90), 40, 24)
        #expect(try header(jpeg.withProfile(TestProfile.rotatedRGB)).profile == nil)
    }

    // MARK: - Profile names

    private static func number(_ value: Int) -> [UInt8] {
        [24, 16, 8, 0].map { UInt8(truncatingIfNeeded: value >> $0) }
    }

    /// A profile with one tag, stored after the directory.
    private static func profile(_ tag: [UInt8], offset: Int = 144, length: Int? = nil) -> [UInt8] {
        [UInt8](repeating: 0, count: 128) + number(1) + Array("desc".utf8) + number(offset)
            + number(length ?? tag.count) + tag
    }

    private static func ascii(_ text: [UInt8], length: Int? = nil) -> [UInt8] {
        Array("desc".utf8) + number(0) + number(length ?? text.count) + text
    }

    private static func languages(_ text: String, offset: Int = 28, count: Int = 1) -> [UInt8] {
        let units = text.utf16.flatMap { [UInt8($0 >> 8), UInt8($0 & 255)] }
        return Array("mluc".utf8) + number(0) + number(count) + number(12) + Array("enUS".utf8)
            + number(units.count) + number(offset) + units
    }

    private func name(_ profile: [UInt8]) -> String? {
        profile.withUnsafeBytes { ProfileName.read($0) }
            .flatMap { PropertyText.text($0, bytesMax: 128) }
    }

    @Test func bothFormsOfNamesAreRead() {
        #expect(name(Self.profile(Self.ascii(Array("My screen\0".utf8)))) == "My screen")
        #expect(name(Self.profile(Self.languages("Écran 🖥"))) == "Écran 🖥")
    }

    @Test(arguments: [
        [], Array("acsp".utf8), profile([]), profile(ascii([])), profile(ascii([0])),
        profile(ascii(Array("ab".utf8), length: 9)), profile(ascii([0xFF, 0xFE, 0x41])),
        profile(ascii(Array("ab".utf8)), offset: 1_000),
        profile(ascii(Array("ab".utf8)), offset: 0xFFFF_FFFF),
        profile(ascii(Array("ab".utf8)), length: 0xFFFF_FFFF),
        profile(languages("ab", offset: 0xFFFF_FFF0)), profile(languages("ab", count: 0)),
        profile(Array("text".utf8) + [0, 0, 0, 0] + Array("ab".utf8)),
    ])
    func whatHasNoNameThatCanBeReadHasNone(profile: [UInt8]) {
        #expect(name(profile) == nil)
    }

    /// Truncations of a valid profile are never read past their end.
    @Test func profilesThatEndEarlyAreReadToTheirEnd() {
        let sound = Self.profile(Self.languages("Name"))
        for end in sound.indices { _ = name(Array(sound[..<end])) }
        #expect(name(sound) == "Name")
    }

    @Test func textsAreCutOffBetweenCharacters() {
        let long = String(repeating: "é", count: 100)
        #expect(PropertyText.text(Array(long.utf8), bytesMax: 7) == "ééé")
        #expect(PropertyText.text(Array("  a b \n".utf8), bytesMax: 128) == "a b")
        #expect(PropertyText.text([0x61, 0xC3], bytesMax: 128) == nil)
        #expect(PropertyText.text(Array("   ".utf8), bytesMax: 128) == nil)
    }
}
