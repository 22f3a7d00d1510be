import AVIF
import CodecSupport
import Testing

/// Checks encoded files with independent decoders.
@Suite struct AVIFEncoderTests {
    static let sizes = [(16, 16), (17, 33), (128, 65)]

    private func encoding(
        _ size: (width: Int, height: Int), _ chroma: PlaneSubsampling = .yuv444,
        quality: Int = 95
    ) -> AVIFEncoding {
        AVIFEncoding(
            width: size.width, height: size.height, chroma: chroma, quality: quality, speed: 9)
    }

    @Test(arguments: [3, 4], sizes)
    func losslessPixelsComeBackAsTheyWentIn(
        bands: Int, size: (width: Int, height: Int)
    ) throws {
        let pixels = Pixels(size.width, size.height, bands: bands, spare: 5) { x, y, band in
            (x * x * 7 + y * (band + 3) * 11 + x * y) % 256
        }
        var lossless = encoding(size, .yuv420, quality: 10)
        lossless.isLossless = true
        let encoded = try Encoded(pixels, lossless)
        #expect(encoded.hasAlpha == (bands == 4))
        #expect(try encoded.samples() == pixels.samples)
    }

    @Test(arguments: [PlaneSubsampling.yuv420, .yuv444], sizes)
    func lossyPixelsComeBackNearly(
        chroma: PlaneSubsampling, size: (width: Int, height: Int)
    ) throws {
        let pixels = Pixels.gradient(size.width, size.height, bands: 4, spare: 3)
        let samples = try Encoded(pixels, encoding(size, chroma)).samples()
        #expect(samples.count == pixels.samples.count)
        for (index, (found, wanted)) in zip(samples, pixels.samples).enumerated() {
            // Alpha is lossless by default.
            let limit = index % 4 == 3 ? 0 : 10
            #expect(abs(Int(found) - Int(wanted)) <= limit, "\(index)")
        }
    }

    @Test(arguments: [PlaneSubsampling.gray, .yuv420, .yuv444], sizes)
    func planesAreTakenAsTheyAre(
        chroma: PlaneSubsampling, size: (width: Int, height: Int)
    ) throws {
        let encoding = encoding(size, chroma, quality: 100)
        let planes = (0..<chroma.planeCount).map { index in
            let plane = chroma.size(ofPlane: index, size.width, size.height)
            return Pixels(plane.width, plane.height, spare: 7 * index) { x, y, _ in
                // The luma plane covers the full range from 0 to 255.
                index == 0 ? (x + y) * 255 / (size.width + size.height - 2) : 90 + 40 * index
            }
        }
        let found = try Encoded(planes: planes, encoding).planes()
        let wanted = planes.flatMap(\.samples)
        #expect(found.count == wanted.count)
        #expect(zip(found, wanted).allSatisfy { abs(Int($0) - Int($1)) <= 3 })
    }

    @Test func theFileSaysWhichColorsItHas() throws {
        let size = (64, 48)
        let pixels = Pixels.gradient(64, 48, bands: 4)
        func properties(_ encoding: AVIFEncoding) throws -> [String] {
            try Encoded(pixels, encoding).properties().split(separator: "\n").map {
                String($0).split(separator: " ").joined(separator: " ")
            }
        }
        let lossy = try properties(encoding(size, .yuv420))
        for line in [
            "* Resolution : 64x48", "* Bit Depth : 8", "* Format : YUV420",
            "* Alpha : Not premultiplied", "* Range : Full", "* Color Primaries: 1",
            "* Transfer Char. : 13", "* Matrix Coeffs. : 6", "* ICC Profile : Absent",
            "* Exif Metadata : Absent", "* Transformations: None",
        ] { #expect(lossy.contains { $0.hasPrefix(line) }, "\(line): \(lossy)") }
        var encoding = encoding(size, .yuv420)
        encoding.isLossless = true
        let lossless = try properties(encoding)
        for line in ["* Format : YUV444", "* Matrix Coeffs. : 0"] {
            #expect(lossless.contains(line), "\(lossless)")
        }
    }

    @Test func opaquePixelsHaveNoAlpha() throws {
        let pixels = Pixels(20, 10, bands: 4) { x, y, band in band == 3 ? 255 : x * 10 + y }
        let encoded = try Encoded(pixels, encoding((20, 10)))
        #expect(!encoded.hasAlpha)
        #expect(try encoded.properties().contains("Alpha          : Absent"))
    }

    @Test func alphaMayLoseSomething() throws {
        let pixels = Pixels(96, 96, bands: 4) { x, y, band in
            band == 3 ? (x * x * 3 + y * y * 5 + x * y * 7) % 256 : 100
        }
        var coarse = encoding((96, 96))
        coarse.alphaQuality = 10
        let (exact, lossy) = (
            try Encoded(pixels, encoding((96, 96))), try Encoded(pixels, coarse)
        )
        #expect(lossy.bytes.count < exact.bytes.count)
        #expect(try lossy.samples() != exact.samples())
    }

    @Test func moreQualityIsMoreBytesAndLessError() throws {
        let pixels = Pixels(128, 96, bands: 3) { x, y, band in
            (x * x / 20 + y * (band + 1) + (x * 7_919 + y * 104_729) % 31) % 256
        }
        var (bytes, errors): ([Int], [Int]) = ([], [])
        for quality in [0, 30, 60, 90, 100] {
            let encoded = try Encoded(pixels, encoding((128, 96), quality: quality))
            bytes.append(encoded.bytes.count)
            errors.append(
                zip(try encoded.samples(), pixels.samples).reduce(0) {
                    $0 + abs(Int($1.0) - Int($1.1))
                })
        }
        #expect(bytes == bytes.sorted() && Set(bytes).count == bytes.count, "\(bytes)")
        #expect(errors == errors.sorted(by: >) && errors[0] > 2 * errors[4], "\(errors)")
    }

    @Test func speedMakesAnotherFile() throws {
        let pixels = Pixels.gradient(128, 96, bands: 3)
        let files = try [9, 8, 6].map { speed in
            var encoding = encoding((128, 96), quality: 60)
            encoding.speed = speed
            return try Encoded(pixels, encoding).bytes
        }
        #expect(Set(files).count == files.count)
    }

    @Test(arguments: [(0, 63), (50, 32), (80, 13), (99, 2), (100, 1)])
    func qualityIsAQuantizer(quality: Int, quantizer: Int) {
        #expect(AVIFEncoding.quantizer(ofQuality: quality) == quantizer)
    }

    /// Cancels before libaom starts, and after.
    @Test(arguments: [1, 2])
    func encodingEndsWhereItIsCancelled(call: Int) throws {
        var calls = 0
        let error = #expect(throws: CodecError.self) {
            try Encoded(.gradient(64, 64, bands: 3), encoding((64, 64))) {
                calls += 1
                return calls == call
            }
        }
        #expect(error?.kind == .cancelled)
        #expect(calls == call)
    }

    @Test func encodingEndsWhereTheSinkRefuses() throws {
        let error = #expect(throws: CodecError.self) {
            try Encoded(.gradient(64, 64, bands: 3), encoding((64, 64)), takesBytes: false)
        }
        #expect(error?.kind == .refused)
    }

    @Test func sourcesThatDoNotFitAreRefused() throws {
        let pixels = Pixels.gradient(16, 16, bands: 3)
        var slow = encoding((16, 16))
        slow.speed = 10
        var unfit = [
            encoding((17, 16)), encoding((16, 17)), encoding((16, 16), quality: 101),
            encoding((0, 16)), encoding((65_537, 1)), slow,
        ]
        unfit.append(encoding((16, 16)))
        unfit[unfit.count - 1].alphaQuality = -1
        for encoding in unfit {
            let error = #expect(throws: CodecError.self) { try Encoded(pixels, encoding) }
            #expect(error?.kind == .internal)
        }
        let plane = Pixels(16, 16) { _, _, _ in 0 }
        var lossless = encoding((16, 16))
        lossless.isLossless = true
        for (planes, encoding) in [
            ([plane, plane, plane], lossless), ([plane], encoding((16, 16))),
        ] {
            let error = #expect(throws: CodecError.self) {
                try Encoded(planes: planes, encoding)
            }
            #expect(error?.kind == .internal)
        }
    }
}
