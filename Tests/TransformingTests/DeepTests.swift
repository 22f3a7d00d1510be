import Model
import StageKit
import TestKit
import Testing
import Vips

/// Results of more than 8 bits per sample, read by ImageMagick and by libavif's and libjxl's
/// programs.
@Suite struct DeepTests {
    private let folder = TestKit.TemporaryDirectory()

    /// 16-bit pixels as a decoder produces them.
    private func source(
        _ width: Int, _ height: Int, _ bands: PixelPlane.Bands = .rgb,
        samples form: SampleForm = SampleForm(bits: 16),
        _ sample: (_ x: Int, _ y: Int, _ band: Int) -> Int
    ) -> Source {
        var source = Source(width, height, bands) { _, _, _ in 0 }
        let count = Int(bands.rawValue)
        source.layout = PixelLayout(
            bands: bands, size: source.info.size, stride: width * count * 2, samples: form)
        source.samples = []
        for y in 0..<height {
            for x in 0..<width {
                for band in 0..<count {
                    let number = UInt16(clamping: sample(x, y, band))
                    source.samples += [UInt8(number & 255), UInt8(number >> 8)]
                }
            }
        }
        return source
    }

    /// 16-bit samples of a file as read by ImageMagick.
    private func read(_ bytes: [UInt8], _ format: String, _ map: String = "rgb") throws -> [Int] {
        let raw = try Tool.run(
            [
                "convert-im6.q16", "\(format):-", "-set", "colorspace", "sRGB", "-depth", "16",
                "-endian", "LSB", "\(map):-",
            ], input: bytes)
        return stride(from: 0, to: raw.count, by: 2).map { Int(raw[$0]) | Int(raw[$0 + 1]) << 8 }
    }

    private func tone(_ x: Int, _ y: Int, _ band: Int) -> Int {
        (x * 2_617 + y * 997 + band * 20_011) % 65_536
    }

    @Test(arguments: PixelPlane.Bands.allCases, [nil, 12])
    func aPNGHasTheSixteenBits(bands: PixelPlane.Bands, compression: Int?) throws {
        let source = source(23, 17, bands, tone)
        let produced = try transform(
            source, [], output: output(.png, depth: 16) { $0.compression = compression })
        #expect(produced.bytes[24] == 16 && produced.header.bytesPerBand == 2)
        let map = bands == .rgb || bands == .gray ? "rgb" : "rgba"
        let wanted = (0..<17).flatMap { y in
            (0..<23).flatMap { x in
                let colors = bands == .rgb || bands == .rgba ? [0, 1, 2] : [0, 0, 0]
                let alpha = map == "rgba" ? [bands == .rgba ? 3 : 1] : []
                return (colors + alpha).map { tone(x, y, $0) }
            }
        }
        #expect(try read(produced.bytes, "png", map) == wanted)
    }

    /// These are written by libvips: interlaced, and a file larger than is compressed at once.
    @Test func otherWaysToAPNGKeepThemToo() throws {
        let small = source(23, 17, .rgb, tone)
        let wanted = (0..<17).flatMap { y in
            (0..<23).flatMap { x in (0..<3).map { tone(x, y, $0) } }
        }
        let interlaced = try transform(
            small, [], output: output(.png, depth: 16) { $0.isProgressive = true })
        #expect(try read(interlaced.bytes, "png") == wanted)
        let large = source(700, 300, .rgba, tone)
        let produced = try transform(
            large, [], output: output(.png, depth: 16) { $0.compression = 12 })
        #expect(produced.samples == large.samples)
    }

    @Test func aTIFFAndAJPEGXLHaveThem() throws {
        let source = source(23, 17, .rgb, tone)
        let tiff = try transform(source, [], output: output(.tiff, depth: 16))
        let png = try transform(source, [], output: output(.png, depth: 16))
        #expect(try read(tiff.bytes, "tiff") == read(png.bytes, "png"))
        let jxl = try transform(
            source, [], output: output(.jxl, depth: 16) { $0.lossless = true })
        let (input, decoded) = (folder.write(jxl.bytes, to: "a.jxl"), folder.file("a.png"))
        try Tool.run(["djxl", input, decoded])
        #expect(try read(#require(FileBytes.read(decoded)), "png") == read(png.bytes, "png"))
    }

    /// Each step that keeps the depth moves every pixel correctly.
    @Test(arguments: [
        (TransformStep.flip(horizontal: true, vertical: false), 22, 0),
        (.flip(horizontal: false, vertical: true), 0, 16),
        (.rotate(Rotation(degreesClockwise: 90)), 0, 16),
        (.rotate(Rotation(degreesClockwise: 180)), 22, 16),
        (.rotate(Rotation(degreesClockwise: 270)), 22, 0),
        (.crop(PixelRect(x: 5, y: 3, size: PixelSize(width: 8, height: 9))), 5, 3),
        (
            .cropTo(RelativeSize(width: .pixels(7), height: .pixels(7)), .point(x: 1, y: 1)), 16,
            10
        ),
    ])
    func stepsKeepThem(step: TransformStep, x: Int, y: Int) throws {
        let produced = try transform(
            source(23, 17, .rgba, tone), [step], output: output(.png, depth: 16))
        let first = try read(produced.bytes, "png", "rgba").prefix(4)
        #expect(Array(first) == (0..<4).map { tone(x, y, $0) })
    }

    /// A ramp stays smooth between 8-bit steps, and white stays white.
    @Test(arguments: [PixelPlane.Bands.rgb, .rgba])
    func aResizeKeepsThem(bands: PixelPlane.Bands) throws {
        let ramp = source(100, 100, bands) { x, _, band in band == 3 ? 50_000 : 20_000 + 50 * x }
        let half = TransformStep.resize(PixelSize(width: 50, height: 50), .stretch)
        let produced = try read(
            transform(ramp, [half], output: output(.png, depth: 16)).bytes, "png", "rgba")
        for x in 3..<47 {
            #expect(abs(produced[(50 * 20 + x) * 4] - (20_025 + 100 * x)) <= 3, "\(x)")
        }
        let white = source(100, 100) { _, _, _ in 65_535 }
        let scaled = try transform(white, [half], output: output(.png, depth: 16))
        #expect(scaled.samples.allSatisfy { $0 == 255 })
    }

    /// Colors of transparent pixels do not show at their edges.
    @Test func transparentPixelsHaveNoColorInAResize() throws {
        let source = source(64, 64, .rgba) { x, _, band in
            x < 32 ? [60_000, 500, 500, 65_535][band] : [0, 65_535, 0, 0][band]
        }
        let half = TransformStep.resize(PixelSize(width: 33, height: 33), .stretch)
        let produced = try read(
            transform(source, [half], output: output(.png, depth: 16)).bytes, "png", "rgba")
        for pixel in stride(from: 0, to: produced.count, by: 4) where produced[pixel + 3] > 3_000 {
            #expect(produced[pixel + 1] < 1_500, "no green")
        }
    }

    @Test func letterboxHasTransparentMargins() throws {
        let step = TransformStep.resize(PixelSize(width: 40, height: 40), .letterbox)
        let produced = try transform(
            source(20, 10) { _, _, _ in 40_000 }, [step], output: output(.png, depth: 16))
        let pixels = try read(produced.bytes, "png", "rgba")
        #expect(Array(pixels.prefix(4)) == [0, 0, 0, 0])
        let middle = Array(pixels.dropFirst(4 * (20 * 40 + 20)).prefix(4))
        #expect(middle == [40_000, 40_000, 40_000, 65_535])
    }

    /// Without the setting, or in a format without support, samples are rounded to 8 bits.
    @Test(arguments: [ImageFormat.png, .tiff, .webp, .jxl])
    func otherResultsHaveEight(format: ImageFormat) throws {
        let source = source(16, 16) { _, _, band in [257 * 100 + 100, 257 * 50 - 100, 0][band] }
        let produced = try transform(
            source, [], output: output(format) { $0.lossless = true })
        #expect(
            produced.header.bytesPerBand == 1 && produced.pixel(3, 3).prefix(3) == [100, 50, 0])
    }

    @Test func eightBitsAreWrittenAsManyAsAreAskedFor() throws {
        let source = Source(16, 16) { x, y, band in x * 13 + y + band }
        let produced = try transform(source, [], output: output(.png, depth: 16))
        #expect(produced.header.bytesPerBand == 2)
        let samples = try read(produced.bytes, "png")
        for (index, sample) in samples.enumerated() {
            #expect(sample == 257 * Int(source.samples[index]))
        }
    }

    // MARK: - High dynamic range

    private func pq(_ bits: Int) -> SampleForm {
        SampleForm(bits: bits, hdr: HDRColors(primaries: .bt2020, transfer: .pq))
    }

    @Test func aPNGSaysItsColorsByNumbers() throws {
        let source = source(23, 17, .rgb, samples: pq(10), tone)
        for isProgressive in [false, true] {
            let produced = try transform(
                source, [], output: output(.png) { $0.isProgressive = isProgressive })
            #expect(produced.bytes[24] == 16)
            let content: [UInt8] = Array("cICP".utf8) + [9, 16, 0, 1]
            let chunk: [UInt8] = [0, 0, 0, 4] + content + Self.crc(content)
            #expect(Array(produced.bytes[33..<49]) == chunk)
            #expect(try read(produced.bytes, "png").count == 23 * 17 * 3)
        }
    }

    /// Computed by Python's zlib.
    private static func crc(_ bytes: [UInt8]) -> [UInt8] {
        let script =
            "import sys, zlib; d = sys.stdin.buffer.read(); "
            + "sys.stdout.buffer.write(zlib.crc32(d).to_bytes(4, 'big'))"
        return (try? Tool.run(["python3", "-c", script], input: bytes)) ?? []
    }

    /// The bit depth of the source or the requested one, as reported by libavif's program.
    @Test(arguments: [(10, nil, 10), (12, nil, 12), (16, nil, 12), (10, 12, 12), (16, 10, 10)])
    func anAVIFHasBitsAndNumbers(bits: Int, asked: Int?, depth: Int) throws {
        let color = [50_000, 30_000, 20_000]
        let source = source(32, 32, .rgb, samples: pq(bits)) { _, _, band in color[band] }
        let produced = try transform(
            source, [], output: output(.avif, depth: asked) { $0.quality = 95 })
        let path = folder.write(produced.bytes, to: "a.avif")
        let info = String(decoding: try Tool.run(["avifdec", "--info", path]), as: UTF8.self)
        for line in [
            "Bit Depth      : \(depth)\n", "Color Primaries: 9\n", "Transfer Char. : 16\n",
            "Matrix Coeffs. : 9\n", "Range          : Full\n",
        ] {
            #expect(info.contains(line), "\(line) in \(info)")
        }
        let png = folder.file("a.png")
        try Tool.run(["avifdec", "-d", "16", path, png])
        let pixels = try read(try #require(FileBytes.read(png)), "png")
        let pixel = Array(pixels.dropFirst(3 * (10 * 32 + 10)).prefix(3))
        for (produced, wanted) in zip(pixel, color) {
            let difference = produced - wanted
            #expect(abs(difference) < 400, "\(pixel)")
        }
    }

    @Test func anAVIFOfManyBitsKeepsAlphaAndLosesNothing() throws {
        let color = [64 * 800, 64 * 300, 64 * 5, 32_800]
        let source = source(32, 32, .rgba) { _, _, band in color[band] }
        let produced = try transform(
            source, [], output: output(.avif, depth: 10) { $0.lossless = true })
        #expect(produced.image.info.hasAlpha)
        let (path, png) = (folder.write(produced.bytes, to: "b.avif"), folder.file("b.png"))
        try Tool.run(["avifdec", "-d", "16", path, png])
        let pixel = try read(try #require(FileBytes.read(png)), "png", "rgba").prefix(4)
        for (produced, wanted) in zip(pixel, color) {
            let difference = produced - wanted
            #expect(abs(difference) <= 64, "\(pixel)")
        }
    }

    /// The decoder was told which depth the result supports.
    @Test func whatFitsNoStepOrFormatIsRefused() {
        let high = source(16, 16, .rgb, samples: pq(10), tone)
        #expect(failure(high, [], output: output(.jpeg))?.code == .internalError)
        #expect(failure(high, [.grayscale], output: output(.avif))?.code == .internalError)
        let deep = source(16, 16, .rgb, tone)
        let blurred = failure(deep, [.blur(radius: 3)], output: output(.png, depth: 16))
        #expect(blurred?.code == .internalError)
    }

    /// Each sample counts as two bytes.
    @Test func limitsCountBoth() {
        let pixels = source(16, 16, .rgb, tone)
        var limits = ImageLimits()
        limits.pixelBytesMax = 16 * 16 * 3 * 2 - 1
        #expect(failure(pixels, [], limits: limits)?.code == .limitExceeded)
        limits.pixelBytesMax = 8 * 100 * 100 - 1
        let step = TransformStep.resize(PixelSize(width: 100, height: 100), .stretch)
        #expect(failure(pixels, [step], limits: limits)?.details["step"] == "resize")
    }
}
