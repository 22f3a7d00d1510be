import Model
import Testing
import Vips

/// The effects of encoder settings, read from the files themselves.
@Suite struct SettingTests {
    private let waves = Source(120, 90, format: .jpeg) { x, y, band in
        (x * x / 50 + y * (band + 1) + (x * 7919 + y * 104_729) % 5) % 256
    }
    /// Many colors, some of them transparent.
    private let clear = Source(64, 64, .rgba) { x, y, band in
        band == 3 ? (x < 32 ? 0 : 255) : (x * 4 + y * band) % 256
    }

    /// Incompressible noise from 0 to 255.
    private static func noise(_ x: Int, _ y: Int, _ band: Int) -> Int {
        var state = UInt64(x * 4_096 + y * 8 + band + 1) &* 0x9E37_79B9_7F4A_7C15
        state ^= state >> 29
        state &*= 0xBF58_476D_1CE4_E5B9
        return Int(state >> 56)
    }

    private func produce(_ source: Source, _ output: OutputOptions) throws -> Transformed {
        try transform(source, [], output: output)
    }

    // MARK: - JPEG

    /// The segments up to the first scan, by marker (ITU-T T.81, B.1.1).
    private func segments(_ bytes: [UInt8]) -> [(marker: UInt8, data: ArraySlice<UInt8>)] {
        var found: [(marker: UInt8, data: ArraySlice<UInt8>)] = []
        var offset = 2
        while offset + 4 <= bytes.count, bytes[offset + 1] != 0xDA {
            let length = Int(bytes[offset + 2]) << 8 | Int(bytes[offset + 3])
            found.append((bytes[offset + 1], bytes[(offset + 4)..<(offset + 2 + length)]))
            offset += 2 + length
        }
        return found
    }

    /// The marker of the frame, and the sampling factors of its components.
    private func frame(_ bytes: [UInt8]) -> (marker: UInt8, factors: [UInt8])? {
        guard let frame = segments(bytes).first(where: { [0xC0, 0xC2].contains($0.marker) })
        else { return nil }
        let data = Array(frame.data)
        return (frame.marker, (0..<Int(data[5])).map { data[7 + 3 * $0] })
    }

    private func tables(_ bytes: [UInt8]) -> Int {
        segments(bytes).filter { $0.marker == 0xC4 }.reduce(0) { $0 + $1.data.count }
    }

    /// From planes, and from pixels.
    private var ways: [Source] {
        let planar = Source.planar(120, 90, blue: 100, red: 170) { x, y in
            (x * x / 50 + y * 2 + (x * 7919 + y * 104_729) % 5) % 256
        }
        return [waves, planar]
    }

    @Test func aProgressiveJPEGHasScans() throws {
        for source in ways {
            let plain = try produce(source, output(.jpeg) { _ in })
            let progressive = try produce(source, output(.jpeg) { $0.isProgressive = true })
            #expect(frame(plain.bytes)?.marker == 0xC0)
            #expect(frame(progressive.bytes)?.marker == 0xC2)
            #expect(progressive.samples == plain.samples, "scans lose nothing")
        }
    }

    @Test func tablesOfItsOwnMakeAJPEGSmaller() throws {
        for source in ways {
            let plain = try produce(source, output(.jpeg) { _ in })
            let optimized = try produce(source, output(.jpeg) { $0.optimizesCoding = true })
            #expect(optimized.bytes.count < plain.bytes.count)
            #expect(tables(optimized.bytes) != tables(plain.bytes))
            #expect(optimized.samples == plain.samples)
        }
    }

    @Test func theSubsamplingIsTheOneAskedFor() throws {
        let (quarter, full): ([UInt8], [UInt8]) = ([0x22, 0x11, 0x11], [0x11, 0x11, 0x11])
        for source in ways {
            for (quality, subsampling, factors) in [
                (80, .auto, quarter), (95, .auto, full), (80, .yuv444, full),
                (80, .yuv420, quarter),
                (95, .yuv420, quarter),
            ] as [(Int, ChromaSubsampling, [UInt8])] {
                let produced = try produce(
                    source, output(.jpeg, quality: quality) { $0.subsampling = subsampling })
                #expect(frame(produced.bytes)?.factors == factors)
            }
        }
    }

    // MARK: - PNG

    /// Depth, color type and interlacing of the header, and the colors of the palette.
    private func properties(_ bytes: [UInt8]) -> (
        depth: UInt8, type: UInt8, interlace: UInt8, colors: Int
    ) {
        var (offset, colors) = (8, 0)
        while offset + 8 <= bytes.count {
            let length = bytes[offset..<(offset + 4)].reduce(0) { $0 << 8 | Int($1) }
            if bytes[(offset + 4)..<(offset + 8)].elementsEqual("PLTE".utf8) {
                colors = length / 3
            }
            offset += length + 12
        }
        return (bytes[24], bytes[25], bytes[28], colors)
    }

    @Test func anInterlacedPNGIsOne() throws {
        let progressive = try produce(clear, output(.png) { $0.isProgressive = true })
        #expect(properties(progressive.bytes).interlace == 1)
        #expect(progressive.samples == clear.samples)
        #expect(properties(try produce(clear, output(.png) { _ in }).bytes).interlace == 0)
    }

    @Test func aPaletteHasAtMostAsManyColors() throws {
        for (asked, depth, most) in [
            (256, 8, 256), (255, 4, 16), (16, 4, 16), (7, 2, 4), (2, 1, 2),
        ] {
            for source in [waves, clear] {
                let result = try produce(source, output(.png) { $0.colors = asked })
                let properties = properties(result.bytes)
                #expect(properties.type == 3 && properties.depth == UInt8(depth), "\(asked)")
                #expect((1...most).contains(properties.colors), "\(asked): \(properties.colors)")
                var seen: Set<[UInt8]> = []
                let bands = result.header.bands
                for start in stride(from: 0, to: result.samples.count, by: bands) {
                    seen.insert(Array(result.samples[start..<(start + bands)]))
                }
                #expect(seen.count <= most, "\(asked)")
            }
        }
    }

    /// An encoder may drop alpha; the image properties reflect what it wrote.
    @Test func aPaletteKeepsTransparency() throws {
        let result = try produce(clear, output(.png) { $0.colors = 256 })
        #expect(result.header.hasAlpha && result.pixel(3, 3)[3] == 0)
        #expect(result.pixel(60, 3)[3] == 255)
        let opaque = Source(32, 32, .rgba) { x, y, band in band == 3 ? 255 : x * y % 256 }
        #expect(try produce(opaque, output(.png) { $0.colors = 16 }).header.hasAlpha == false)
    }

    @Test func ditheringSpreadsTheError() throws {
        let ramp = Source(128, 32) { x, _, _ in x * 2 }
        let results = try [0, 100].map { dither in
            try produce(
                ramp,
                output(.png) {
                    $0.colors = 4
                    $0.dither = dither
                }
            ).samples
        }
        #expect(results[0] != results[1])
        // Without it, each column is of one color.
        let rows = stride(from: 0, to: results[0].count, by: results[0].count / 32).map {
            Array(results[0][$0..<($0 + results[0].count / 32)])
        }
        #expect(Set(rows).count == 1)
    }

    // MARK: - WebP

    @Test func moreEffortMakesASmallerWebP() throws {
        for source in ways {
            let counts = try [0, 4, 6].map { effort in
                try produce(source, output(.webp) { $0.effort = effort }).bytes.count
            }
            #expect(counts[2] < counts[0], "\(counts)")
            let usual = try produce(source, output(.webp) { _ in }).bytes.count
            #expect(usual == counts[1])
        }
    }

    @Test func aNearlyLosslessWebPIsNear() throws {
        let soft = Source(120, 90) { x, y, band in x + y + Self.noise(x, y, band) / 8 }
        let exact = try produce(soft, output(.webp) { $0.nearLossless = 100 })
        #expect(exact.samples == soft.samples)
        let near = try produce(soft, output(.webp) { $0.nearLossless = 0 })
        let differences = zip(near.samples, soft.samples).map { abs(Int($0) - Int($1)) }
        let most = differences.max() ?? 0
        #expect(most > 0 && most <= 32, "\(most)")
        #expect(near.bytes.count < exact.bytes.count)
    }

    @Test func alphaOfAWebPMayLoseSomething() throws {
        let soft = Source(64, 64, .rgba) { x, y, band in
            band == 3 ? Self.noise(x, y, band) : 128
        }
        let exact = try produce(soft, output(.webp) { _ in })
        let lossy = try produce(soft, output(.webp) { $0.alphaQuality = 10 })
        #expect(
            (0..<64).allSatisfy {
                exact.pixel($0, 5)[3] == Int(soft.samples[(5 * 64 + $0) * 4 + 3])
            })
        #expect(lossy.bytes.count < exact.bytes.count)
    }

    /// Thin red lines on blue lose less of their color.
    @Test func sharpColorsAreNearerToTheSource() throws {
        let lines = Source(64, 64, format: .jpeg) { x, y, band in
            let isRed = (x + y / 3) % 5 == 0
            return (band == 0 && isRed) || (band == 2 && !isRed) ? 255 : 0
        }
        let errors = try [false, true].map { isSharp in
            let result = try produce(
                lines, output(.webp, quality: 95) { $0.sharpensChroma = isSharp })
            return zip(result.samples, lines.samples)
                .reduce(0) { $0 + abs(Int($1.0) - Int($1.1)) }
        }
        #expect(errors[1] < errors[0], "\(errors)")
        let planar = Source.planar(40, 24, blue: 90, red: 170) { x, y in 60 + 3 * x + 2 * y }
        let result = try produce(planar, output(.webp) { $0.sharpensChroma = true })
        #expect(result.size == PixelSize(width: 40, height: 24))
    }
}
