import CodecSupport
import Testing
import Vips
import WebP

@Suite struct WebPEncoderTests {
    static let sizes = [(1, 1), (7, 9), (17, 33), (128, 64)]

    @Test(arguments: [3, 4], sizes)
    func losslessPixelsComeBackAsTheyWentIn(
        bands: Int, size: (width: Int, height: Int)
    ) throws {
        let pixels = Pixels.gradient(size.width, size.height, bands: bands)
        let padded = Pixels.gradient(size.width, size.height, bands: bands, spare: 5)
        let encoding = WebPEncoding(
            width: size.width, height: size.height, quality: 50, isLossless: true)
        let bytes = try encode(padded, encoding)
        let decoded = try decode(bytes)
        #expect(decoded.header.width == size.width)
        #expect(decoded.header.height == size.height)
        let colors = stride(from: 0, to: pixels.bytes.count, by: bands).flatMap {
            pixels.bytes[$0..<($0 + 3)]
        }
        let bandsRead = decoded.header.bands
        let read = stride(from: 0, to: decoded.samples.count, by: bandsRead).flatMap {
            decoded.samples[$0..<($0 + 3)]
        }
        #expect(read == colors)
    }

    @Test(arguments: sizes)
    func lossyPixelsComeBackNearly(size: (width: Int, height: Int)) throws {
        let pixels = Pixels.gradient(size.width, size.height, bands: 3, spare: 3)
        let bytes = try encode(
            pixels, WebPEncoding(width: size.width, height: size.height, quality: 95))
        let decoded = try decode(bytes)
        for y in 0..<size.height {
            for x in 0..<(size.width * 3) {
                let before = Int(pixels.bytes[y * pixels.stride + x])
                #expect(abs(before - Int(decoded.samples[y * size.width * 3 + x])) <= 24)
            }
        }
    }

    @Test(arguments: sizes)
    func planesAreReadInLimitedRange(size: (width: Int, height: Int)) throws {
        // Y, U, V in limited range, and the corresponding color.
        let colors = [
            (16, 128, 128, [0, 0, 0]), (235, 128, 128, [255, 255, 255]),
            (81, 90, 240, [254, 0, 0]), (41, 240, 110, [0, 0, 255]),
        ]
        let encoding = WebPEncoding(width: size.width, height: size.height, quality: 100)
        for (y, u, v, color) in colors {
            let planes = [y, u, v].enumerated().map { index, value in
                let plane = PlaneSubsampling.yuv420.size(
                    ofPlane: index, size.width, size.height)
                return Pixels(plane.width, plane.height, spare: index == 0 ? 3 : 6) { _, _, _ in
                    value
                }
            }
            let decoded = try decode(encode(planes: planes, encoding))
            for (band, value) in color.enumerated() {
                #expect(abs(Int(decoded.samples[band]) - value) <= 4)
            }
        }
    }

    @Test func planesAndPixelsOfOneImageAreTheSameAsLibvipsMakes() throws {
        let pixels = Pixels.gradient(96, 64, bands: 3)
        let ours = try encode(pixels, WebPEncoding(width: 96, height: 64, quality: 80))
        let theirs = try VipsLibrary().exclusively {
            try pixels.bytes.withUnsafeBytes {
                try VipsImage.pixels($0, width: 96, height: 64, bands: 3)
                    .encoded(.webp(quality: 80))
            }
        }
        #expect(try decode(ours).samples == decode(theirs).samples)
    }

    @Test(arguments: [false, true], [1, 2, 4])
    func encodingEndsWhereItIsCancelled(isLossless: Bool, call: Int) throws {
        let pixels = Pixels(200, 200, bands: 3) { x, y, band in (x * y * (band + 3)) % 251 }
        let encoding = WebPEncoding(
            width: 200, height: 200, quality: 80, isLossless: isLossless)
        var calls = 0
        let error = #expect(throws: CodecError.self) {
            try encode(pixels, encoding) {
                calls += 1
                return calls == call
            }
        }
        #expect(error?.kind == .cancelled)
        #expect(calls == call)
    }

    @Test func aLossyEncodingAsksOftenWhetherToStop() throws {
        let encoding = WebPEncoding(width: 400, height: 400, quality: 80)
        let planes = (0..<3).map { index in
            let size = PlaneSubsampling.yuv420.size(ofPlane: index, 400, 400)
            return Pixels(size.width, size.height) { x, y, _ in (x * y * (index + 3)) % 200 + 20 }
        }
        var calls = 0
        _ = try encode(planes: planes, encoding) {
            calls += 1
            return false
        }
        #expect(calls >= 30)
    }

    @Test func encodingEndsWhereTheSinkRefuses() throws {
        let pixels = Pixels.gradient(64, 64, bands: 3)
        let error = #expect(throws: CodecError.self) {
            try withSources([pixels]) { sources in
                try WebPEncoder.encode(
                    pixels: sources[0], bands: 3,
                    as: WebPEncoding(width: 64, height: 64, quality: 80)
                ) { _ in
                    false
                } isCancelled: {
                    false
                }
            }
        }
        #expect(error?.kind == .refused)
    }

    @Test func aSideOfMoreThan16383PixelsIsTooLarge() throws {
        let pixels = Pixels(16_384, 1, bands: 3) { _, _, _ in 0 }
        let error = #expect(throws: CodecError.self) {
            try encode(pixels, WebPEncoding(width: 16_384, height: 1, quality: 80))
        }
        #expect(error?.kind == .tooLarge, "\(String(describing: error))")
    }

    @Test func sourcesThatDoNotFitAreRefused() throws {
        let pixels = Pixels.gradient(16, 16, bands: 3)
        let plane = Pixels(16, 16) { _, _, _ in 0 }
        let unfit = [
            WebPEncoding(width: 17, height: 16, quality: 80),
            WebPEncoding(width: 16, height: 17, quality: 80),
            WebPEncoding(width: 16, height: 16, quality: 101),
            WebPEncoding(width: 16, height: 16, quality: 80, method: 7),
            WebPEncoding(width: 0, height: 16, quality: 80),
        ]
        for encoding in unfit {
            let error = #expect(throws: CodecError.self) { try encode(pixels, encoding) }
            #expect(error?.kind == .internal)
        }
        let lossless = WebPEncoding(width: 16, height: 16, quality: 80, isLossless: true)
        let error = #expect(throws: CodecError.self) {
            try encode(planes: [plane, plane, plane], lossless)
        }
        #expect(error?.kind == .internal)
    }
}
