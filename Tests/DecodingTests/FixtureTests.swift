import Model
import StageKit
import TestKit
import Testing
import Vips

/// Third-party images from the folder named by the environment; the expected values are those of
/// SDWebImage's tests.
@Suite(.enabled(if: Fixtures.folder != nil, "needs IMAGEBUS_FIXTURES"))
struct FixtureTests {
    @Test(arguments: [
        ("photos/photo-2725x2225.jpg", ImageFormat.jpeg, 2725, 2225, 1),
        ("images/TestImage.jpg", .jpeg, 80, 60, 1), ("images/TestImage.png", .png, 300, 300, 1),
        ("images/TestImageLarge.jpg", .jpeg, 5250, 3450, 1),
        ("images/1@2x.gif", .gif, 400, 400, 44), ("images/TestImage.gif", .gif, 50, 50, 5),
        ("images/TestImageAnimated.webp", .webp, 990, 1050, 8),
        ("images/TestImageStatic.webp", .webp, 550, 368, 1),
        ("images/TestImageAnimated.apng", .png, 320, 240, 101),
        ("images/MonochromeTestImage.jpg", .jpeg, 165, 121, 1),
    ])
    func headersAreRead(path: String, format: ImageFormat, width: Int, height: Int, pages: Int)
        throws
    {
        let info = try decode(Fixtures.read(path), .header).image.info
        #expect(info.format == format)
        #expect(info.size == PixelSize(width: width, height: height))
        #expect(info.pages == pages)
        let pixels = try decode(Fixtures.read(path))
        #expect(pixels.plane?.size == info.size)
    }

    /// Mean colors of the four quarters as read by Pillow 13 with LittleCMS, every hundredth column
    /// and row; its chroma upsampling differs. Those of high dynamic range are computed by numpy
    /// from libheif's and libavif's samples by BT.2100, with white at 203 cd/m².
    @Test(arguments: [
        (
            "images/TestImage.heic", ImageFormat.heic, 1440, 960,
            [
                [27.7, 129.1, 220.5], [27, 123.1, 215], [214.7, 222.5, 228], [215.5, 223.1, 229.3],
            ]
        ),
        (
            "images/TestImage.heif", .heif, 1440, 960,
            [[60, 59.3, 83.2], [78.7, 76.5, 101.7], [64.7, 54.6, 65.2], [69.4, 51, 57.3]]
        ),
        (
            "images/TestImageAnimated.heics", .heif, 256, 144,
            [
                [122.1, 101.1, 83.9], [65.5, 60.5, 59.9], [183.8, 137.9, 90.2],
                [122.3, 99.9, 78.1],
            ]
        ),
        (
            "images/TestHDR.heic", .heic, 600, 400,
            [[99.6, 83.5, 66.1], [115.8, 97.3, 77.7], [139.8, 127, 105.9], [123.7, 105.7, 84]]
        ),
        (
            "images/TestHDR.avif", .avif, 2048, 858,
            [[101.8, 106.3, 79], [184.5, 165.4, 113.8], [67.8, 78.4, 3.9], [62.5, 62.7, 3.7]]
        ),
    ])
    func theQuartersAreThoseOfAnotherReader(
        path: String, format: ImageFormat, width: Int, height: Int, means: [[Double]]
    ) throws {
        let decoded = try decode(Fixtures.read(path))
        let size = PixelSize(width: width, height: height)
        let isHDR = path.contains("HDR")
        #expect(
            decoded.image.info
                == ImageInfo(
                    format: format, size: size, bits: isHDR ? 10 : 8, isHDR: isHDR))
        for (quarter, wanted) in means.enumerated() {
            let mean = try mean(decoded, ofQuarter: quarter)
            #expect(zip(mean, wanted).allSatisfy { abs($0 - $1) < 1.5 }, "\(quarter): \(mean)")
        }
    }

    private func mean(_ decoded: Decoded, ofQuarter quarter: Int) throws -> [Double] {
        let size = decoded.image.info.size
        var (sums, count) = ([0.0, 0, 0], 0.0)
        for y in part(quarter / 2, of: size.height) {
            for x in part(quarter % 2, of: size.width) {
                for (band, value) in try decoded.pixel(x, y).prefix(3).enumerated() {
                    sums[band] += Double(value)
                }
                count += 1
            }
        }
        return sums.map { $0 / count }
    }

    private func part(_ half: Int, of side: Int) -> StrideTo<Int> {
        stride(from: half * side / 2, to: (half + 1) * side / 2, by: max(1, side / 100))
    }

    @Test func aJPEGXLOfTheFixturesIsDecoded() throws {
        let decoded = try decode(Fixtures.read("images/TestHDR.jxl"))
        let size = PixelSize(width: 600, height: 420)
        #expect(decoded.image.info == ImageInfo(format: .jxl, size: size, bits: 16, isHDR: true))
    }

    @Test(arguments: [
        ("images/TestImage.pdf", ImageFormat.pdf), ("images/TestImage.svg", .svg),
    ])
    func formatsThatAreNotDecodedAreNamed(path: String, format: ImageFormat) throws {
        let error = failure(try Fixtures.read(path), .full)
        #expect(error?.code == .unsupportedFormat)
        #expect(error?.details["format"] == format.name)
    }

    @Test func whatIsTooLargeForItsDecoderIsRefusedByItsHeader() throws {
        let error = failure(try Fixtures.read("broken/17000x17000.avif"), .header)
        #expect(error?.code == .limitExceeded)
        #expect(error?.details["limit"] == "decoder")
    }

    @Test(arguments: [
        "truncated.jpg", "truncated.png", "truncated.gif", "corrupt-header.jpg",
    ])
    func brokenImagesAreBadData(name: String) throws {
        #expect(failure(try Fixtures.read("broken/\(name)"))?.code == .badImageData)
    }

    @Test func samplesAreThoseOfOtherDecoders() throws {
        let indexed = try decode(Fixtures.read("images/IndexedPNG.png"))
        #expect(try near(indexed.pixel(100, 1), [154, 231, 231, 50], within: 2))
        let photo = try decode(Fixtures.read("images/TestImage.jpg"))
        #expect(try near(photo.pixel(0, 0), [52, 49, 42], within: 2))
    }

    @Test(arguments: [
        ("images/RGBA16PNG.png", UInt8(8738 >> 8)), ("images/webpcoder/TestDisplayP3.png", 255),
    ])
    func sixteenBitsBecomeEightAndAlphaIsScaled(path: String, alphaMax: UInt8) throws {
        let decoded = try decode(Fixtures.read(path))
        #expect(decoded.plane?.bands == .rgba)
        let alpha = stride(from: 3, to: decoded.samples.count, by: 4).map { decoded.samples[$0] }
        #expect(alpha.max() == alphaMax)
    }

    @Test func aGrayProfileLeavesGrayGray() throws {
        let decoded = try decode(Fixtures.read("images/webpcoder/TestImageGrayscale.jpg"))
        #expect(decoded.plane?.bands == .gray)
        #expect(decoded.plane?.size == PixelSize(width: 2000, height: 1334))
    }

    /// `TestEXIF.png` stored with each orientation: where its black marker is displayed.
    @Test(arguments: [
        (1, 40, 160), (2, 110, 160), (3, 110, 30), (4, 40, 30), (5, 160, 40), (6, 30, 40),
        (7, 30, 110), (8, 160, 110),
    ])
    func theMarkerIsDisplayedWhereOrientationPutsIt(orientation: Int, x: Int, y: Int) throws {
        let source = try decode(Fixtures.read("images/TestEXIF.png"))
        let size = PixelSize(width: 150, height: 200)
        #expect(source.plane?.size == size)
        let stored = try Sources.encoded(.jpeg(quality: 95), size.width, size.height) {
            Int(source.samples[($1 * size.width + $0) * 3 + $2])
        }.withEXIF(orientation: orientation)
        let displayed = try decode(stored)
        #expect(displayed.image.info.size == (orientation >= 5 ? size.transposed : size))
        #expect(try near(displayed.pixel(x, y), [0, 0, 0], within: 20))
    }

    private func near(_ left: [UInt8], _ right: [Int], within tolerance: Int) -> Bool {
        left.count == right.count
            && zip(left, right).allSatisfy { abs(Int($0) - $1) <= tolerance }
    }
}
