import Model
import Testing
import Vips

/// If not every pixel is opaque, colors are premultiplied by alpha before pixels are mixed: the
/// color of an invisible pixel, such as one of a transparent canvas, doesn't darken its neighbors.
@Suite struct OpacityTests {
    /// The only color of all images, shown by every pixel that isn't fully transparent.
    private static let shown = 200

    private static func isAlpha(_ band: Int, _ bands: PixelPlane.Bands) -> Bool {
        bands.rawValue % 2 == 0 && band == Int(bands.rawValue) - 1
    }

    /// Expects that color in every visible pixel, and some translucent ones. Alpha above 255 is
    /// clipped, the color is not: a brighter pixel is permitted.
    private func expectOneColor(_ pixels: [[Double]], _ comment: Comment) {
        let seen = pixels.filter { $0[3] >= 64 }
        #expect(seen.allSatisfy { $0.prefix(3).allSatisfy { $0 >= 197 } }, comment)
        #expect(seen.contains { $0[3] < 220 }, comment)
    }

    private static let canvases: [TransformStep] = [
        .pad(PixelSize(width: 40, height: 40), .center, .clear),
        .extend(Margins(left: 8, top: 8, right: 8, bottom: 8), .color(.clear)),
        .resize(PixelSize(width: 40, height: 24), .letterbox),
        .round(radius: 12),
    ]

    /// An opaque image that a step makes partly transparent before it is reduced.
    @Test(arguments: PixelPlane.Bands.allCases)
    func aClearCanvasDarkensNoEdge(bands: PixelPlane.Bands) throws {
        let source = Source(24, 24, bands) { _, _, band in
            Self.isAlpha(band, bands) ? 255 : Self.shown
        }
        for step in Self.canvases {
            let smaller = TransformStep.resize(PixelSize(width: 17, height: 17), .stretch)
            let result = try transform(source, [step, smaller])
            #expect(result.header.hasAlpha)
            expectOneColor(ScalarImage(result).pixels, "\(step)")
        }
    }

    private static let opaqueCanvases: [TransformStep] = [
        .pad(PixelSize(width: 120, height: 120), .center, .white),
        .extend(Margins(left: 20, top: 20, right: 20, bottom: 20), .color(.white)),
    ]

    /// An opaque canvas doesn't make a translucent image opaque.
    @Test(arguments: [PixelPlane.Bands.grayAlpha, .rgba])
    func anOpaqueCanvasHidesNoTransparency(bands: PixelPlane.Bands) throws {
        let source = Source(80, 80, bands) { x, _, band in
            x < 41 ? (Self.isAlpha(band, bands) ? 255 : Self.shown) : 0
        }
        for step in Self.opaqueCanvases {
            let smaller = TransformStep.resize(PixelSize(width: 60, height: 60), .stretch)
            let image = ScalarImage(try transform(source, [step, smaller]))
            // Transparency begins in column 30 of the result, the canvas in column 50.
            let pixels = (20..<40).flatMap { y in (22..<40).map { x in image.at(x, y) } }
            expectOneColor(pixels, "\(step)")
        }
    }
}
