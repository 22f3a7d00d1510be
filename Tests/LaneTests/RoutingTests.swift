import CodecSupport
import Glibc
import JPEG
import Model
import StageKit
import Testing
import Vips

/// Which images are decoded to planes, and which take the general lane because their samples need
/// conversion.
@Suite struct RoutingTests {
    @Test(arguments: [false, true])
    func aJPEGComesInPlanes(isProgressive: Bool) throws {
        let bytes = try Self.source.jpeg(.yuv420, isProgressive: isProgressive)
        #expect(try layout(bytes).isPlanar)
        let difference = try Lanes(bytes: bytes).planar(Job([])).difference(
            from: Lanes(bytes: bytes).general(Job([])))
        #expect(difference < 3)
    }

    @Test func aGrayJPEGIsOnePlane() throws {
        let layout = try layout(Self.source.jpeg(.gray))
        #expect(layout.planes.map(\.bands) == [.gray])
    }

    /// The profile permutes the channels: red is green, green is blue, blue is red. For dark colors
    /// its gamma of 2.2 differs from sRGB's curve.
    @Test func colorsThatNeedAProfileAreConverted() throws {
        let plain = try Self.patches.jpeg(.yuv444)
        let bytes = plain.withProfile(TestProfile.rotatedRGB)
        #expect(try layout(bytes).planes.map(\.bands) == [.rgb])
        let found = try result(bytes)
        for (index, patch) in Self.colors.enumerated() {
            let wanted = [patch[2], patch[0], patch[1]].map { Self.sRGB(byPowerOf22: $0) }
            #expect(isClose(found.pixel(16 * index + 8, 8), wanted, by: 6), "\(patch)")
        }
    }

    /// Results carry no profile: their values are sRGB.
    @Test func aWebPOfAProfilesColorsIsSRGB() throws {
        let bytes = try Self.patches.jpeg(.yuv444).withProfile(TestProfile.rotatedRGB)
        var job = Job([], as: .webp)
        job.output.lossless = true
        let (found, hasProfile) = try Lanes(bytes: bytes).encoded(job).withUnsafeBytes { encoded in
            try VipsLibrary().exclusively {
                let image = try VipsImage.webp(encoded)
                return (try VipsWay.samples(of: image), image.withProfile { _ in true } ?? false)
            }
        }
        #expect(!hasProfile)
        for (index, patch) in Self.colors.enumerated() {
            let wanted = [patch[2], patch[0], patch[1]].map { Self.sRGB(byPowerOf22: $0) }
            #expect(isClose(found.pixel(16 * index + 8, 8), wanted, by: 6), "\(patch)")
        }
    }

    /// It has a header and no tags.
    @Test func anIncompleteProfileChangesNoColor() throws {
        let bytes = try Self.patches.jpeg(.yuv444).withProfile("IEC sRGB")
        #expect(try layout(bytes).isPlanar)
        let found = try result(bytes)
        for (index, patch) in Self.colors.enumerated() {
            #expect(isClose(found.pixel(16 * index + 8, 8), patch, by: 4), "\(patch)")
        }
    }

    @Test func aJPEGThatIsRGBIsInterleaved() throws {
        let bytes = try Self.source.jpeg(.yuv444).withAdobe(transform: 0)
        #expect(try layout(bytes).planes.map(\.bands) == [.rgb])
        // Its components are named Y, Cb and Cr in the other file.
        let found = try result(bytes).samples.prefix(3)
        let (luma, blue, red) = Self.source.colors(0, 0)
        for (sample, wanted) in zip(found, [luma, blue, red]) {
            #expect(abs(Double(sample) - wanted) < 24)
        }
    }

    /// No profile: CMYK is converted as printed on white. Stored values are inverted, with Adobe's
    /// marker or without.
    @Test(arguments: [false, true])
    func aJPEGThatIsCMYKIsConverted(isMarked: Bool) throws {
        let bytes = try Self.inks(isMarked: isMarked)
        #expect(try layout(bytes).planes.map(\.bands) == [.rgb])
        let found = try result(bytes)
        #expect(found.size == PixelSize(width: 16 * Self.inks.count, height: 16))
        for (index, wanted) in Self.printed.enumerated() {
            let pixel = found.pixel(16 * index + 8, 8)
            #expect(isClose(pixel, wanted, by: 10), "\(Self.inks[index]): \(pixel)")
        }
    }

    /// Its first ink is black, its second red, regardless of their names.
    @Test func inksAreThoseOfTheProfile() throws {
        let found = try result(Self.inks(isMarked: false).withProfile(TestProfile.oddInks))
        let wanted: [[UInt8]] = [
            [255, 255, 255], [0, 0, 0], [255, 0, 0], [255, 255, 255], [255, 255, 255],
        ]
        for (index, wanted) in wanted.enumerated() {
            let pixel = found.pixel(16 * index + 8, 8)
            #expect(isClose(pixel, wanted, by: 12), "\(Self.inks[index]): \(pixel)")
        }
    }

    /// Debian's build of libjpeg supports 8 bits.
    @Test func twelveBitsAreATypedError() throws {
        var bytes = try Self.source.jpeg(.gray)
        let frame = try #require(bytes.place(of: 0xC0))
        bytes[frame + 1] = 0xC1
        bytes[frame + 4] = 12
        let error = #expect(throws: ImageError.self) { try layout(bytes) }
        #expect(error?.code == .badImageData || error?.code == .unsupportedFormat)
    }

    @Test func aPNGWithAlphaKeepsIt() throws {
        let bytes = try Self.translucent()
        #expect(try layout(bytes).planes.map(\.bands) == [.rgba])
        let found = try Lanes(bytes: bytes).general(Job.fit(20, as: .png))
        #expect(found.bands == 4)
        #expect(found.samples[3] < 20)
    }

    private static let source = TestImage.photograph(120, 90)

    private static let colors: [[UInt8]] = [
        [255, 0, 0], [0, 255, 0], [0, 0, 255], [255, 255, 255], [0, 0, 0], [200, 100, 50],
        [40, 90, 180], [128, 128, 128],
    ]

    /// A square of each color, side by side.
    private static let patches = TestImage(
        PixelSize(width: 16 * colors.count, height: 16), bands: 3,
        samples: (0..<16).flatMap { _ in
            colors.flatMap { color in (0..<16).flatMap { _ in color } }
        })

    /// Cyan, magenta, yellow and black: none, and each alone.
    private static let inks: [[UInt8]] = [
        [0, 0, 0, 0], [255, 0, 0, 0], [0, 255, 0, 0], [0, 0, 255, 0], [0, 0, 0, 255],
    ]

    /// The colors according to libvips' generic CMYK profile.
    private static let printed: [[UInt8]] = [
        [255, 255, 255], [0, 157, 228], [235, 30, 132], [255, 238, 0], [40, 35, 43],
    ]

    private static func inks(isMarked: Bool) throws -> [UInt8] {
        let components = try (0..<4).map { ink in
            let row = inks.flatMap { amounts in
                [UInt8](repeating: 255 - amounts[ink], count: 16)
            }
            return try TestImage(
                PixelSize(width: row.count, height: 16), bands: 1,
                samples: (0..<16).flatMap { _ in row }
            ).jpeg(.gray)
        }
        let bytes = [UInt8].fourComponents(components)
        return isMarked
            ? bytes.withSegment(0xEE, Array("Adobe".utf8) + [0, 100, 0, 0, 0, 0, 0]) : bytes
    }

    /// The sRGB (IEC 61966-2-1) value of a sample with a gamma of 2.2.
    private static func sRGB(byPowerOf22 sample: UInt8) -> UInt8 {
        let light = pow(Double(sample) / 255, 2.2)
        let curve = light <= 0.0031308 ? 12.92 * light : 1.055 * pow(light, 1 / 2.4) - 0.055
        return UInt8((curve * 255).rounded())
    }

    private func isClose(_ found: [UInt8], _ wanted: [UInt8], by tolerance: Int) -> Bool {
        found.count == wanted.count
            && zip(found, wanted).allSatisfy { abs(Int($0) - Int($1)) <= tolerance }
    }

    private func layout(_ bytes: [UInt8]) throws -> PixelLayout {
        try #require(Lanes(bytes: bytes).decoded().frames.first).layout
    }

    private func result(_ bytes: [UInt8]) throws -> TestImage {
        try Lanes(bytes: bytes).general(Job([], as: .png))
    }

    private static func translucent() throws -> [UInt8] {
        let samples: [UInt8] = (0..<(40 * 40 * 4)).map { index in UInt8(index / 4 % 40) * 6 }
        return try VipsLibrary().exclusively {
            try samples.withUnsafeBytes { pixels in
                try VipsImage.pixels(pixels, width: 40, height: 40, bands: 4)
                    .encoded(.png(compression: 1))
            }
        }
    }
}
