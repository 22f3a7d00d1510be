import Model
import TestKit
import Testing

/// PQ and HLG sources are converted to 8-bit sRGB according to BT.2100.
@Suite struct StandardRangeTests {
    /// Grays and colors from black to beyond white.
    private let samples: [[Int]] = (0...64).flatMap { step in
        let value = step * 1_023
        return [
            [value, value, value], [value, value / 2, value / 3], [value / 3, value, value / 2],
        ]
    }

    @Test(
        arguments: [HDRFile.pq, HDRFile.hlg], [HDRFile.bt709, HDRFile.bt2020, HDRFile.p3])
    func aPNGThatSaysItsColorsBecomesSRGB(transfer: Int, primaries: Int) throws {
        let file = try HDRFile.png(samples, bands: 3, cicp: [primaries, transfer, 0, 1])
        let decoded = try decode(file)
        #expect(decoded.layout?.planes.first?.bands == .rgb)
        for (x, sample) in samples.enumerated() {
            let wanted = HDRFile.srgb(
                sample.map { Double($0) / 65_535 }, primaries: primaries, transfer: transfer)
            for (produced, wanted) in zip(try decoded.pixel(x, 0), wanted) {
                #expect(abs(Double(produced) - wanted) < 0.75, "\(sample)")
            }
        }
    }

    @Test func alphaStaysAndGrayBecomesColor() throws {
        let alpha = try decode(
            HDRFile.png([[38_000, 38_000, 38_000, 32_896]], bands: 4, cicp: [9, 16, 0, 1]))
        #expect(try alpha.pixel(0, 0)[3] == 128)
        let gray = try decode(HDRFile.png([[38_000, 65_535]], bands: 2, cicp: [9, 16, 0, 1]))
        #expect(try gray.pixel(0, 0) == alpha.pixel(0, 0).prefix(3) + [255])
    }

    /// Limited range, other matrices and unspecified values have no effect.
    @Test(arguments: [[], [9, 16, 0, 0], [9, 16, 9, 1], [9, 2, 0, 1], [2, 16, 0, 1]])
    func otherNumbersChangeNothing(cicp: [Int]) throws {
        let decoded = try decode(HDRFile.png([[20_000, 40_000, 60_000]], bands: 3, cicp: cicp))
        #expect(try decoded.pixel(0, 0) == [78, 156, 234])
    }

    /// Samples encoded by libaom through libavif's programs, in either range.
    @Test(arguments: ["full", "limited"], [10, 12])
    func anAVIFIsWhatItsNumbersSay(range: String, depth: Int) throws {
        let folder = TestKit.TemporaryDirectory()
        let colors = [
            [20_000, 20_000, 20_000], [38_000, 30_000, 25_000], [37_000, 40_000, 20_000],
        ]
        for color in colors {
            let png = try HDRFile.png(
                Array(repeating: color, count: 16), bands: 3, cicp: [])
            let (input, output) = (folder.write(png, to: "a.png"), folder.file("a.avif"))
            try Tool.run([
                "avifenc", "--cicp", "9/16/9", "-r", range, "-d", "\(depth)", "-y", "444",
                "--min", "0", "--max", "2", input, output,
            ])
            let decoded = try decode(try #require(FileBytes.read(output)))
            let wanted = HDRFile.srgb(
                color.map { Double($0) / 65_535 }, primaries: 9, transfer: 16)
            for (produced, wanted) in zip(try decoded.pixel(8, 0), wanted) {
                #expect(abs(Double(produced) - wanted) < 2.5, "\(color)")
            }
        }
    }

    /// Uses the curve of its profile, as the file has no code points; compared with libjxl's own
    /// program.
    @Test(.enabled(if: Fixtures.bytes("images/TestHDR.jxl") != nil, "needs IMAGEBUS_FIXTURES"))
    func aJPEGXLIsWhatItsProfileSays() throws {
        let folder = TestKit.TemporaryDirectory()
        let input = try #require(Fixtures.path("images/TestHDR.jxl"))
        try Tool.run(["djxl", input, folder.file("a.ppm")])
        let samples = try #require(FileBytes.read(folder.file("a.ppm"))).suffix(600 * 420 * 6)
        let decoded = try decode(try #require(Fixtures.bytes("images/TestHDR.jxl")))
        for (x, y) in [(10, 10), (300, 50), (100, 300), (500, 200), (590, 415)] {
            let start = samples.startIndex + (y * 600 + x) * 6
            let wanted = HDRFile.srgb(
                (0..<3).map { band in
                    let place = start + 2 * band
                    return Double(Int(samples[place]) << 8 | Int(samples[place + 1])) / 65_535
                }, primaries: 9, transfer: 16)
            for (produced, wanted) in zip(try decoded.pixel(x, y), wanted) {
                #expect(abs(Double(produced) - wanted) < 1.5, "\(x), \(y)")
            }
        }
    }
}
