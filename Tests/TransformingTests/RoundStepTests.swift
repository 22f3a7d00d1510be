import Glibc
import Model
import Testing
import Vips

/// Rounded corners and borders, each pixel compared with a count of sample points inside the shape.
@Suite struct RoundStepTests {
    /// A rounded rectangle as a point-in-shape test.
    private struct Shape {
        let size: PixelSize
        let inset: Double
        let radius: Double
        let corners: Corners

        func contains(_ x: Double, _ y: Double) -> Bool {
            let (width, height) = (Double(size.width), Double(size.height))
            let (across, down) = (width - 2 * inset, height - 2 * inset)
            let (left, top) = (x - inset, y - inset)
            guard left > 0, top > 0, left < across, top < down else { return false }
            let corner: Corners =
                top < down / 2
                ? (left < across / 2 ? .topLeft : .topRight)
                : (left < across / 2 ? .bottomLeft : .bottomRight)
            guard corners.contains(corner) else { return true }
            let radius = min(radius, across / 2, down / 2)
            let (near, high) = (min(left, across - left), min(top, down - top))
            return near >= radius || high >= radius
                || hypot(radius - near, radius - high) <= radius
        }
    }

    private static let side = 32

    private func part(_ x: Int, _ y: Int, _ contains: (Double, Double) -> Bool) -> Double {
        var count = 0
        for place in 0..<(Self.side * Self.side) {
            let across = (Double(place % Self.side) + 0.5) / Double(Self.side)
            let down = (Double(place / Self.side) + 0.5) / Double(Self.side)
            if contains(Double(x) + across, Double(y) + down) { count += 1 }
        }
        return Double(count) / Double(Self.side * Self.side)
    }

    /// Colors of almost transparent pixels are imprecise, so premultiplied values are compared.
    private func difference(_ result: Transformed, _ wanted: ScalarImage) -> Double {
        ScalarImage(result).premultiplied.difference(from: wanted)
    }

    @Test(
        arguments: [
            (8.0, .all), (3.3, [.topLeft, .bottomRight]), (7.5, .topRight), (1_000, .all),
            (1_000, .bottomLeft), (0.4, .all),
        ] as [(Double, Corners)], PixelPlane.Bands.allCases)
    func cornersAreQuartersOfACircle(
        step: (radius: Double, corners: Corners), bands: PixelPlane.Bands
    ) throws {
        let source = Source.noise(23, 17, bands)
        let image = ScalarImage(source).premultiplied
        let shape = Shape(
            size: source.info.size, inset: 0, radius: step.radius, corners: step.corners)
        let wanted = ScalarImage(23, 17) { x, y in
            image.at(x, y).map { $0 * part(x, y, shape.contains) }
        }
        let result = try transform(source, [.round(radius: step.radius, step.corners)])
        #expect(difference(result, wanted) <= 1.5)
        #expect(result.header.hasAlpha)
    }

    /// The border lies between two such rectangles, half its width on either side of its center
    /// line.
    @Test(
        arguments: [
            (8.0, 1.0, .all, 0xFFFF_0000), (9, 3, .all, 0xFF00_0000), (10, 2.5, .all, 0x8020_40F0),
            (6, 2, [.topLeft, .bottomRight], 0xFF40_8020), (0, 2, .all, 0xFF00_FF00),
        ] as [(Double, Double, Corners, UInt32)], PixelPlane.Bands.allCases)
    func aBorderIsALineOverTheEdge(
        step: (radius: Double, width: Double, corners: Corners, color: UInt32),
        bands: PixelPlane.Bands
    ) throws {
        let source = Source.noise(33, 27, bands)
        let (size, color) = (source.info.size, Color(argb: step.color))
        let image = ScalarImage(source).premultiplied
        let middle = floor(step.width) + 0.5
        func shape(_ inset: Double, _ radius: Double) -> Shape {
            Shape(size: size, inset: inset, radius: radius, corners: step.corners)
        }
        let inside = shape(step.width, step.radius)
        let radius = max(0, step.radius - 0.5)
        let outer = shape(
            middle - step.width / 2, radius > 0 ? radius + step.width / 2 : 0)
        let inner = shape(middle + step.width / 2, max(0, radius - step.width / 2))
        let paint = [color.red, color.green, color.blue].map { Double($0) } + [255]
        let wanted = ScalarImage(33, 27) { x, y in
            let seen = part(x, y, inside.contains)
            let over =
                Double(color.alpha) / 255
                * part(x, y) { outer.contains($0, $1) && !inner.contains($0, $1) }
            return zip(image.at(x, y), paint).map { $0 * seen * (1 - over) + $1 * over }
        }
        let result = try transform(
            source, [.round(radius: step.radius, step.corners, border: step.width, color)])
        #expect(difference(result, wanted) <= 1.5)
    }

    @Test func whatRoundsNothingLeavesTheImage() throws {
        let source = Source.noise(23, 17, .rgb)
        let result = try transform(source, [.round(radius: 0)])
        #expect(ScalarImage(result).difference(from: ScalarImage(source)) == 0)
        #expect(!result.header.hasAlpha)
    }

    @Test func aBorderThatLeavesNothingIsNamed() {
        let source = Source.noise(23, 17, .rgb)
        let error = failure(source, [.round(radius: 1, border: 8.5, .white)])
        #expect(error?.code == .stepFailed)
        #expect(error?.message.contains("a border of 8.5 pixels") == true)
        #expect(TransformStep.round(radius: 1, border: 8.5).size(after: source.info.size) == nil)
    }

    /// A large radius is equally exact, and rows without a corner are skipped.
    @Test func aLargeCircleIsRound() throws {
        let source = Source(1_000, 1_000, .gray) { _, _, _ in 255 }
        let image = ScalarImage(try transform(source, [.round(radius: 500)]))
        let area = image.pixels.reduce(0) { $0 + $1[3] / 255 }
        #expect(abs(area - .pi * 250_000) < 30)
    }
}
