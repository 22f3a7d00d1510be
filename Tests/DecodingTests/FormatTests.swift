import Model
import StageKit
import Testing
import Vips

@Suite struct FormatTests {
    @Test(arguments: [PixelPlane.Bands.gray, .grayAlpha, .rgb, .rgba])
    func aPNGBecomesItsSamples(bands: PixelPlane.Bands) throws {
        let count = Int(bands.rawValue)
        let bytes = try Sources.encoded(.png(compression: 1), 37, 23, bands: count) { x, y, band in
            x * 5 + y * 3 + band * 17
        }
        let decoded = try decode(bytes)
        #expect(
            decoded.image.info
                == ImageInfo(
                    format: .png, size: PixelSize(width: 37, height: 23),
                    hasAlpha: bands == .grayAlpha || bands == .rgba))
        let layout = try #require(decoded.plane)
        #expect(layout == PixelPlane(bands: bands, size: layout.size, stride: 37 * count))
        #expect(layout.size == PixelSize(width: 37, height: 23))
        for (x, y) in [(0, 0), (36, 22), (20, 3)] {
            let wanted = (0..<count).map { band in UInt8(clamping: x * 5 + y * 3 + band * 17) }
            #expect(try decoded.pixel(x, y) == wanted)
        }
    }

    @Test func aLosslessWebPBecomesItsSamples() throws {
        let bytes = try Sources.encoded(.webp(quality: 50, lossless: true), 20, 10) { x, y, _ in
            x * 9 + y
        }
        let decoded = try decode(bytes)
        #expect(decoded.image.info.format == .webp)
        #expect(try decoded.pixel(19, 9) == [180, 180, 180])
    }

    @Test func aGrayJPEGStaysGray() throws {
        let bytes = try Sources.encoded(.jpeg(quality: 95), 32, 32, bands: 1) { x, _, _ in x * 8 }
        let decoded = try decode(bytes)
        #expect(decoded.plane?.bands == .gray)
        #expect(abs(Int(try decoded.pixel(16, 5)[0]) - 128) < 6)
    }

    @Test func theFirstFrameOfAGIFIsDecodedAndItsFramesCounted() throws {
        let decoded = try decode(twoFrameGIF)
        #expect(decoded.image.info.pages == 2)
        #expect(decoded.image.info.size == PixelSize(width: 2, height: 1))
        #expect(try decoded.pixel(0, 0).prefix(3) == [255, 0, 0])
        #expect(try decoded.pixel(1, 0).prefix(3) == [0, 0, 255])
    }

    @Test func theHeaderAloneNeedsNoSpace() throws {
        let bytes = try Sources.encoded(.jpeg(quality: 80), 300, 200) { x, _, _ in x }
        let decoded = try decode(bytes, .header, space: HeapSpace(bytesMax: 0))
        #expect(decoded.image.frames.isEmpty)
        #expect(
            decoded.image.info
                == ImageInfo(format: .jpeg, size: PixelSize(width: 300, height: 200)))
    }
}

/// 2 × 1 pixels, red and blue, then blue and red.
let twoFrameGIF: [UInt8] =
    Array("GIF89a".utf8) + [2, 0, 1, 0, 0x80, 0, 0, 255, 0, 0, 0, 0, 255]
    + [0x2C, 0, 0, 0, 0, 2, 0, 1, 0, 0, 2, 2, 0x44, 0x0A, 0]
    + [0x2C, 0, 0, 0, 0, 2, 0, 1, 0, 0, 2, 2, 0x0C, 0x0A, 0]
    + [0x3B]
