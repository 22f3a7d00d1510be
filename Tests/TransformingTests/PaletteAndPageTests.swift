import Model
import TestKit
import Testing
import Vips

/// Features of GIF, TIFF and JPEG XL results, read from the files and by independent tools.
@Suite struct PaletteAndPageTests {
    private let waves = Source(120, 90, format: .jpeg) { x, y, band in
        (x * x / 50 + y * (band + 1) + (x * 7_919 + y * 104_729) % 5) % 256
    }
    /// Alpha in steps from left to right.
    private let steps = Source(64, 32, .rgba) { x, y, band in
        band == 3 ? x / 8 * 36 : (x * 3 + y * (band + 2)) % 256
    }

    private func produce(
        _ source: Source, _ format: ImageFormat, quality: Int? = nil, lossless: Bool = false,
        _ change: (inout OutputOptions) -> Void = { _ in }
    ) throws -> Transformed {
        try transform(
            source, [], output: output(format, quality: quality, lossless: lossless, change))
    }

    private func colors(_ image: Transformed) -> Int {
        let bands = image.header.bands
        return Set(
            stride(from: 0, to: image.samples.count, by: bands).map {
                Array(image.samples[$0..<($0 + bands)])
            }
        ).count
    }

    // MARK: - GIF

    @Test func aGIFHasAtMostAsManyColors() throws {
        for (asked, most) in [(256, 256), (255, 128), (64, 64), (7, 4), (2, 2)] {
            for source in [waves, steps] {
                let found = colors(try produce(source, .gif) { $0.colors = asked })
                #expect((2...most).contains(found), "\(asked)")
            }
        }
        #expect(colors(try produce(waves, .gif)) > 128)
    }

    /// The flags of the image descriptor (GIF89a, 20), after a header without comments.
    @Test func aProgressiveGIFIsInterlaced() throws {
        for isProgressive in [false, true] {
            let bytes = try produce(waves, .gif) { $0.isProgressive = isProgressive }.bytes
            let size: [UInt8] = [0, 0, 0, 0, 120, 0, 90, 0]
            let start = try #require(
                bytes.indices.first { bytes[$0...].starts(with: [0x2C] + size) })
            #expect(bytes[start + 9] & 0x40 == (isProgressive ? 0x40 : 0))
        }
    }

    @Test func whatIsHalfTransparentIsSeenInAGIF() throws {
        let image = try produce(steps, .gif)
        #expect(image.header.hasAlpha)
        for step in 0..<8 {
            #expect(image.pixel(step * 8 + 4, 16)[3] == (step * 36 >= 128 ? 255 : 0), "\(step)")
        }
        // With many colors: if the palette has room, libvips declares an unused color transparent.
        let opaque = Source(64, 64, .rgba) { x, y, band in
            band == 3 ? 255 : (x * (band + 2) * 4 + y * (3 - band) * 4) % 256
        }
        #expect(try produce(opaque, .gif).header.hasAlpha == false)
    }

    @Test func ditheringSpreadsTheErrorOfAGIF() throws {
        let ramp = Source(128, 32) { x, _, _ in x * 2 }
        let rows = try [0, 100].map { dither in
            let image = try produce(ramp, .gif) {
                $0.colors = 4
                $0.dither = dither
            }
            return Set((0..<32).map { y in (0..<128).map { image.pixel($0, y) } }).count
        }
        // Without it, each column is of one color.
        #expect(rows[0] == 1 && rows[1] > 1, "\(rows)")
    }

    // MARK: - TIFF

    @Test(arguments: PixelPlane.Bands.allCases, [ImageFormat.jpeg, .png])
    func aTIFFHasEverySample(bands: PixelPlane.Bands, source: ImageFormat) throws {
        let pixels = Source(61, 43, bands, format: source) { x, y, band in
            (x * 3 + y * 5 + band * 7 + (x * y) % 11) % 256
        }
        #expect(try produce(pixels, .tiff).samples == pixels.samples)
    }

    @Test func aTIFFIsDeflatedAndHasOnePage() throws {
        let folder = TemporaryDirectory()
        for (source, predicts) in [(waves, true), (steps, false)] {
            let file = folder.write(try produce(source, .tiff).bytes, to: "a.tif")
            let output = String(decoding: try Tool.run(["tiffinfo", file]), as: UTF8.self)
            #expect(output.contains("Compression Scheme: AdobeDeflate"), "\(output)")
            #expect(output.contains("Predictor: horizontal differencing") == predicts, "\(output)")
            #expect(output.components(of: "Image Width").count == 2, "\(output)")
        }
    }

    // MARK: - JPEG XL

    /// Every form of the size in the header: in eighths, by a ratio, with few bits or many.
    @Test(arguments: [
        (1, 1), (8, 8), (256, 256), (40, 32), (48, 40), (40, 30), (160, 90), (300, 200), (513, 7),
        (2_000, 3), (257, 255), (64, 32), (3, 9_000),
    ])
    func aJPEGXLIsOfItsSize(size: (width: Int, height: Int)) throws {
        let source = Source(size.width, size.height) { x, y, band in (x + y * band) % 256 }
        #expect(
            try produce(source, .jxl) { $0.effort = 3 }.size
                == PixelSize(width: size.width, height: size.height))
    }

    @Test func aJPEGXLWithoutLossIsExact() throws {
        for source in [waves, steps] {
            let exact = try produce(source, .jxl, quality: 10, lossless: true) { $0.effort = 3 }
            #expect(exact.samples == source.samples)
        }
    }

    /// Also the lowest qualities, for which libjxl defines no distance.
    @Test func moreQualityIsALargerJPEGXL() throws {
        let counts = try [0, 30, 60, 90, 100].map {
            try produce(waves, .jxl, quality: $0).bytes.count
        }
        #expect(counts == counts.sorted() && Set(counts).count == counts.count, "\(counts)")
    }

    @Test func effortMakesAnotherJPEGXL() throws {
        let files = try [3, 5, 7].map { effort in
            try produce(waves, .jxl) { $0.effort = effort }.bytes
        }
        #expect(Set(files).count == files.count)
        #expect(try produce(waves, .jxl).bytes == files[1], "the usual one")
    }
}

extension String {
    fileprivate func components(of part: String) -> [Substring] {
        split(separator: part, omittingEmptySubsequences: false)
    }
}
