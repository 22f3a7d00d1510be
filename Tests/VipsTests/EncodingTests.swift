import Testing
import Vips

@Suite struct EncodingTests {
    @Test(arguments: 1...4)
    func pngGivesBackEverySample(bands: Int) throws {
        try withVips {
            let pixels = Pixels.gradient(61, 47, bands: bands)
            let bytes = try pixels.image().encoded(.png(compression: 6))
            try bytes.withUnsafeBytes { bytes in
                let image = try VipsImage.png(bytes)
                #expect(image.header.bands == bands)
                #expect(image.header.hasAlpha == (bands == 2 || bands == 4))
                #expect(try image.samples() == Array(pixels.bytes))
            }
        }
    }

    @Test func losslessWebPGivesBackEverySample() throws {
        try withVips {
            let pixels = Pixels.gradient(61, 47)
            let bytes = try pixels.image().encoded(.webp(quality: 70, lossless: true))
            try bytes.withUnsafeBytes { bytes in
                let samples = try VipsImage.webp(bytes).samples()
                #expect(samples == Array(pixels.bytes))
            }
        }
    }

    @Test(arguments: [
        VipsEncoding.jpeg(quality: 90), .jpeg(quality: 90, progressive: true, optimized: true),
    ])
    func jpegGivesBackNearlyTheSame(encoding: VipsEncoding) throws {
        try withVips {
            let pixels = Pixels.gradient(64, 48)
            let bytes = try pixels.image().encoded(encoding)
            try bytes.withUnsafeBytes { bytes in
                let image = try VipsImage.jpeg(bytes)
                #expect(image.header.isInterlaced == (encoding != .jpeg(quality: 90)))
                let worst = zip(try image.samples(), pixels.bytes)
                    .map { abs(Int($0) - Int($1)) }.max()
                #expect(try #require(worst) < 12)
            }
        }
    }

    @Test func lowerQualityIsSmaller() throws {
        try withVips {
            let image = try Pixels(128, 128) { x, y, band in (x * y * (band + 3)) % 251 }.image()
            #expect(
                try image.encoded(.jpeg(quality: 30)).count
                    < image.encoded(.jpeg(quality: 90)).count)
            #expect(
                try image.encoded(.webp(quality: 30)).count
                    < image.encoded(.webp(quality: 90)).count)
            #expect(
                try image.encoded(.png(compression: 9)).count
                    < image.encoded(.png(compression: 0)).count)
        }
    }

    @Test func aSinkThatRefusesEndsTheSave() throws {
        try withVips {
            let image = try Pixels.gradient(512, 512).image()
            var calls = 0
            let error = #expect(throws: VipsError.self) {
                try image.save(.png(compression: 0)) { _ in
                    calls += 1
                    return calls < 3
                }
            }
            #expect(error?.kind == .refused)
            #expect(calls == 3)
        }
    }

    /// Also if all bytes come at once.
    @Test(arguments: [VipsEncoding.gif(), .tiff(predicts: true), .jxl(quality: 80, effort: 3)])
    func aSinkThatTakesNothingEndsEverySave(encoding: VipsEncoding) throws {
        try VipsLibrary(savers: [.jxl]).exclusively {
            let image = try Pixels.gradient(64, 64).image()
            let error = #expect(throws: VipsError.self) {
                try image.save(encoding) { _ in false }
            }
            #expect(error?.kind == .refused)
        }
    }
}
