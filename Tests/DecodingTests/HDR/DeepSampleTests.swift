import Model
import TestKit
import Testing
import Vips

/// 16-bit samples for results that keep more than 8 bits.
@Suite struct DeepSampleTests {
    private func numbers(_ decoded: Decoded) throws -> [Int] {
        let count = try #require(decoded.layout?.pixelByteCount)
        return stride(from: 0, to: count, by: 2).map {
            Int(decoded.samples[$0]) | Int(decoded.samples[$0 + 1]) << 8
        }
    }

    @Test(arguments: PixelPlane.Bands.allCases)
    func aPNGKeepsItsSixteenBits(bands: PixelPlane.Bands) throws {
        let count = Int(bands.rawValue)
        let samples = (0..<40).map { x in (0..<count).map { (x * 1_637 + $0 * 7_919) % 65_536 } }
        let file = try HDRFile.png(samples, bands: count, cicp: [])
        let decoded = try decode(file, keeping: .depth)
        #expect(decoded.layout?.samples == SampleForm(bits: 16))
        #expect(decoded.plane?.bands == bands && decoded.plane?.stride == 80 * count)
        #expect(try numbers(decoded) == samples.flatMap(\.self))
        #expect(try decode(file).layout?.samples == .standard, "unasked there are 8 bits")
        #expect(try decode(file, keeping: .hdr).layout?.samples == .standard)
    }

    /// A TIFF from ImageMagick.
    @Test func aTIFFKeepsItsSixteenBits() throws {
        let samples = (0..<16).map { [$0 * 4_000, 65_535 - $0 * 4_001, $0 * 37] }
        let tiff = try Tool.run(
            ["convert-im6.q16", "png:-", "tiff:-"],
            input: HDRFile.png(samples, bands: 3, cicp: []))
        #expect(try numbers(decode(tiff, keeping: .depth)) == samples.flatMap(\.self))
    }

    @Test func eightBitsStayEight() throws {
        let file = try Sources.encoded(.png(compression: 1), 8, 8) { x, y, _ in x * y }
        #expect(try decode(file, keeping: [.depth, .hdr]).layout?.samples == .standard)
    }

    /// A profile is applied in 16 bits: values between 8-bit steps occur.
    @Test func colorsAreConvertedInSixteenBits() throws {
        let samples = (0..<64).map { [30_000 + $0 * 16, 20_000, 10_000] }
        let profile = try ExternalProfile.named("p3")
        let folder = TestKit.TemporaryDirectory()
        let path = folder.write(profile, to: "p3.icc")
        let tiff = try Tool.run(
            ["convert-im6.q16", "png:-", "-profile", path, "tiff:-"],
            input: HDRFile.png(samples, bands: 3, cicp: []))
        let decoded = try decode(tiff, keeping: .depth)
        let red = try numbers(decoded).enumerated().filter { $0.offset % 3 == 0 }.map(\.element)
        #expect(Set(red).count > 48 && red == red.sorted())
        #expect(red[0] > samples[0][0] + 500, "P3 is wider: the same red is more of sRGB")
    }

    /// Code points and colors of an AVIF are kept, regardless of its bit depth, as 16-bit samples.
    @Test(arguments: [10, 12])
    func aHighRangeStaysAsItIs(depth: Int) throws {
        let folder = TestKit.TemporaryDirectory()
        let color = [52_000, 30_000, 65_535]
        let png = try HDRFile.png(Array(repeating: color, count: 16), bands: 3, cicp: [])
        let (input, output) = (folder.write(png, to: "a.png"), folder.file("a.avif"))
        try Tool.run([
            "avifenc", "--cicp", "9/18/9", "-r", "full", "-d", "\(depth)", "-y", "444",
            "--min", "0", "--max", "0", input, output,
        ])
        let file = try #require(FileBytes.read(output))
        let decoded = try decode(file, keeping: .hdr)
        let hdr = HDRColors(primaries: .bt2020, transfer: .hlg)
        #expect(decoded.layout?.samples == SampleForm(bits: depth, hdr: hdr))
        for (produced, wanted) in zip(try numbers(decoded).prefix(3), color) {
            #expect(abs(produced - wanted) <= 3 * 65_536 >> depth, "\(produced) \(wanted)")
        }
        let deep = try decode(file, keeping: .depth)
        #expect(deep.layout?.samples == SampleForm(bits: depth), "sRGB in 16 bits")
        let narrow = try decode(file).pixel(0, 0)
        for (wide, eight) in zip(try numbers(deep).prefix(3), narrow) {
            #expect(abs(Double(wide) / 257 - Double(eight)) <= 0.51)
        }
    }

    /// Each sample counts as two bytes.
    @Test func theLimitOfBytesCountsBoth() throws {
        let samples = Array(repeating: [1, 2, 3], count: 100)
        let file = try HDRFile.png(samples, bands: 3, cicp: [])
        var limits = ImageLimits()
        limits.pixelBytesMax = 599
        #expect(failure(file, limits: limits)?.details["limit"] == "pixelBytesMax")
        limits.pixelBytesMax = 600
        #expect(try decode(file, keeping: .depth, limits: limits).layout?.pixelByteCount == 600)
    }
}
