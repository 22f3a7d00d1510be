import Glibc
import ImagebusTransforms
import TestKit
import Testing

/// SDWebImage's own expected values for its test image (SDImageTransformerTests,
/// SDGraphicsImageTests).
@Suite(.enabled(if: Fixtures.folder != nil, "needs IMAGEBUS_FIXTURES")) struct OracleTests {
    private let transforms: ImageTransforms
    private let image: PixelImage

    init() throws {
        transforms = try ImageTransforms()
        let file = try #require(Fixtures.bytes("images/TestImage.png"))
        image = try transforms.image(of: Self.withoutGamma(file))
    }

    /// SDWebImage's values are the file's raw samples, not converted to sRGB.
    private static func withoutGamma(_ png: [UInt8]) -> [UInt8] {
        var (file, place) = (Array(png.prefix(8)), 8)
        while place + 12 <= png.count {
            let end = place + 12 + png[place..<(place + 4)].reduce(0) { $0 << 8 | Int($1) }
            let name = png[(place + 4)..<(place + 8)]
            if !name.elementsEqual("gAMA".utf8) { file += png[place..<min(end, png.count)] }
            place = end
        }
        return file
    }

    private static let black = Color(argb: 0xFF00_0000)

    private func transformed(_ steps: TransformStep...) throws -> PixelImage {
        try transforms.apply(steps, to: image)
    }

    private func expect(
        _ color: Color?, _ red: Double, _ green: Double, _ blue: Double, _ alpha: Double
    ) {
        guard let color else { return #expect(Bool(false), "the pixel doesn't exist") }
        let pairs = [
            (color.red, red), (color.green, green), (color.blue, blue), (color.alpha, alpha),
        ]
        for (part, wanted) in pairs { #expect(abs(Double(part) / 255 - wanted) <= 0.01) }
    }

    @Test func resizesToExactlyTheSize() throws {
        let size = PixelSize(width: 200, height: 100)
        #expect(try transformed(.resize(size, .stretch, enlarges: true)).size == size)
        let large = PixelSize(width: 2_000, height: 1_000)
        let fitted = try transformed(.resize(large, .letterbox, enlarges: true))
        #expect(fitted.size == large && fitted.color(at: 1_000, 50) == Self.black)
        #expect(fitted.color(at: 10, 500)?.alpha == 0, "a margin")
        #expect(try transformed(.resize(size, .fill, enlarges: true)).size == size)
    }

    @Test func cropsFromTheTopLeftCorner() throws {
        let size = PixelSize(width: 200, height: 200)
        let part = try transformed(.crop(PixelRect(x: 50, y: 10, size: size)))
        #expect(part.size == size && part.color(at: 0, 0)?.alpha == 0)
        #expect(part.color(at: 100, 10) == Self.black)
        let beside = PixelRect(x: 300, y: 0, size: size)
        #expect(throws: ImageError.self) { try transformed(.crop(beside)) }
    }

    @Test func roundsCornersWithABorder() throws {
        let round = try transformed(.round(radius: 50, border: 1, Self.black))
        #expect(round.size == image.size && round.color(at: 0, 0)?.alpha == 0)
        #expect(round.color(at: 1, 150) == Self.black && round.color(at: 150, 20) == Self.black)
    }

    @Test func rotatesWithAndWithoutGrowing() throws {
        let cut = try transformed(.rotate(Rotation(radians: .pi / 4, fitsSize: false)))
        #expect(cut.size == image.size)
        let whole = try transformed(.rotate(Rotation(radians: .pi / 4, fitsSize: true)))
        #expect(abs(whole.size.width - 425) <= 1 && abs(whole.size.height - 425) <= 1)
        #expect(whole.color(at: 60, 175) == Self.black)
    }

    @Test func flipsBothWays() throws {
        let flipped = try transformed(.flip(horizontal: true, vertical: true))
        #expect(flipped.color(at: 150, 285) == Self.black)
        let place = PixelRect(x: 75, y: 75, size: PixelSize(width: 10, height: 10))
        let colors = try #require(flipped.colors(in: place))
        #expect(colors.count == 100 && Set(colors).count == 1)
    }

    @Test func tintsInTheShapeOfTheImage() throws {
        let tinted = try transformed(.tint(Self.black))
        #expect(tinted.color(at: 150, 150)?.alpha == 0)
        #expect(tinted.color(at: 80, 150) == Self.black && tinted.color(at: 150, 20) == Self.black)
        let clear = try transformed(.tint(Color(argb: 0)))
        #expect(clear.color(at: 80, 150) == image.color(at: 80, 150))
    }

    @Test func blursPremultiplied() throws {
        let blurred = try transformed(.blur(radius: 25))
        expect(blurred.color(at: 80, 150), 0.59, 0.14, 0.12, 0.75)
        #expect(blurred.color(at: 150, 20) != blurred.color(at: 150, 280))
        #expect(blurred.size == image.size)
    }

    @Test func inverts() throws {
        let inverted = try transformed(.invert)
        expect(inverted.color(at: 80, 150), 0.851, 0.992, 0.992, 1)
        expect(inverted.color(at: 150, 20), 1, 1, 1, 1)
    }

    @Test func aPipelineGoesInItsOrder() throws {
        let size = PixelSize(width: 100, height: 100)
        let small = PixelRect(x: 0, y: 0, size: PixelSize(width: 50, height: 50))
        let result = try transformed(
            .resize(size, .fill, enlarges: true),
            .rotate(Rotation(radians: .pi / 4, fitsSize: false)), .round(radius: 50),
            .flip(horizontal: true, vertical: true), .tint(Color(argb: 0)), .blur(radius: 5),
            .invert, .crop(small))
        #expect(result.size == small.size)
    }

    @Test func palettesKeepTheirAlpha() throws {
        let indexed = try transforms.image(
            of: #require(Fixtures.bytes("images/IndexedPNG.png")))
        expect(indexed.color(at: 100, 1), 0.60, 0.91, 0.91, 0.20)
    }

    @Test(arguments: [
        ("TestImage.jpg", 80, 60), ("TestImage.gif", 50, 50), ("TestImageStatic.webp", 550, 368),
        ("TestImage.heic", 1_440, 960), ("MonochromeTestImage.jpg", 165, 121),
        ("RGBA16PNG.png", 126, 135), ("TestImageAnimated.webp", 990, 1_050),
    ])
    func decodesTheFirstFrame(name: String, width: Int, height: Int) throws {
        let image = try transforms.image(of: #require(Fixtures.bytes("images/" + name)))
        #expect(image.size == PixelSize(width: width, height: height))
    }

    @Test func aPixelIsAsUpstreamReadsIt() throws {
        let photo = try transforms.image(of: #require(Fixtures.bytes("images/TestImage.jpg")))
        let first = try #require(photo.color(at: 0, 0))
        #expect(abs(Int(first.red) - 52) <= 1 && abs(Int(first.green) - 49) <= 1)
        #expect(abs(Int(first.blue) - 42) <= 1 && first.alpha == 255)
    }
}
