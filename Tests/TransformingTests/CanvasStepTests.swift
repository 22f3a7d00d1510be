import Glibc
import Model
import Testing
import Vips

/// Steps that crop, trim, rotate and extend the canvas.
@Suite struct CanvasStepTests {
    private let base = Source(9, 8) { x, y, band in 10 * x + y + 60 * band }

    private func pixels(_ width: Int, _ height: Int) -> RelativeSize {
        RelativeSize(width: .pixels(width), height: .pixels(height))
    }

    @Test(arguments: PixelPlane.Bands.allCases)
    func aCanvasHasTheImageAtItsPlaceAndTheColorElsewhere(bands: PixelPlane.Bands) throws {
        let source = Source.noise(9, 8, bands)
        let image = ScalarImage(source)
        let colors: [(Color, [Double])] = [
            (.clear, [0, 0, 0, 0]), (.white, [255, 255, 255, 255]),
            (Color(argb: 0x8010_20F0), [16, 32, 240, 128]),
        ]
        for (gravity, x, y) in [("center", 5, 2), ("southeast", 11, 5), ("fp:0.2:0", 2, 0)] {
            for (color, outside) in colors {
                let step = TransformStep.pad(
                    PixelSize(width: 20, height: 13), try #require(Gravity(gravity)), color)
                let result = try transform(source, [step])
                let wanted = ScalarImage(20, 13) { column, row in
                    (x..<(x + 9)).contains(column) && (y..<(y + 8)).contains(row)
                        ? image.at(column - x, row - y) : outside
                }
                #expect(ScalarImage(result).difference(from: wanted) == 0, "\(gravity) \(color)")
                let isOpaque = color == .white && bands.rawValue % 2 == 1
                #expect(result.header.hasAlpha != isOpaque)
            }
        }
    }

    @Test func aCanvasIsNeverSmallerThanTheImage() throws {
        let step = TransformStep.pad(PixelSize(width: 4, height: 12), .center, .white)
        let result = try transform(base, [step])
        #expect(result.size == PixelSize(width: 9, height: 12))
        #expect(result.pixel(0, 2) == base.pixel(0, 0))
    }

    /// The image column or row shown at a position of the canvas, by the definition of the fill.
    private func place(_ position: Int, _ side: Int, _ fill: MarginFill) -> Int? {
        if (0..<side).contains(position) { return position }
        let inTile = ((position % side) + side) % side
        switch fill {
        case .color: return nil
        case .copy: return min(max(position, 0), side - 1)
        case .repeat: return inTile
        case .mirror:
            let tile = Int((Double(position) / Double(side)).rounded(.down))
            return tile % 2 == 0 ? inTile : side - 1 - inTile
        }
    }

    /// Including margins wider than the image.
    @Test(arguments: PixelPlane.Bands.allCases)
    func marginsShowTheirColorOrTheImageAgain(bands: PixelPlane.Bands) throws {
        let source = Source.noise(9, 8, bands)
        let image = ScalarImage(source)
        let fills: [MarginFill] = [
            .color(.clear), .color(Color(argb: 0xFF10_20F0)), .copy, .repeat, .mirror,
        ]
        for fill in fills {
            var outside = [0.0, 0, 0, 0]
            if case .color(let color) = fill, color != .clear { outside = [16, 32, 240, 255] }
            let margins = Margins(left: 12, top: 3, right: 20, bottom: 9)
            let result = try transform(source, [.extend(margins, fill)])
            let wanted = ScalarImage(41, 20) { column, row in
                guard let x = place(column - 12, 9, fill), let y = place(row - 3, 8, fill) else {
                    return outside
                }
                return image.at(x, y)
            }
            #expect(ScalarImage(result).difference(from: wanted) == 0, "\(fill)")
        }
    }

    @Test func anImageWithoutMarginsStaysInItsPlanes() throws {
        let planar = Source.planar(9, 8) { x, y in 10 * x + y }
        let output = OutputOptions(format: .jpeg)
        let none = try transform(planar, [.extend(Margins(), .mirror)], output: output)
        #expect(none.image.account.isPlanar)
        #expect(none.image.account.foldedSteps == 1)
        let margins = Margins(left: 1)
        let some = try transform(planar, [.extend(margins, .mirror)], output: output)
        #expect(!some.image.account.isPlanar)
        #expect(some.image.account.foldedSteps == 0)
        #expect(some.size == PixelSize(width: 10, height: 8))
    }

    /// Planes leave their lane only if a canvas adds something.
    @Test(arguments: [
        ("northwest", 0, 0), ("center", 2, 2), ("east", 5, 2), ("southeast", 5, 5),
        ("fp:0.9:0.1", 5, 0), ("fp:0.4:0.6", 1, 3),
    ])
    func aPartIsCutWhereGravitySays(gravity: String, x: Int, y: Int) throws {
        let step = TransformStep.cropTo(pixels(4, 3), try #require(Gravity(gravity)))
        let result = try transform(base, [step])
        #expect(result.size == PixelSize(width: 4, height: 3))
        #expect(result.pixel(0, 0) == base.pixel(x, y))
        #expect(result.pixel(3, 2) == base.pixel(x + 3, y + 2))
        let planar = Source.planar(9, 8) { x, y in 10 * x + y }
        let cut = try transform(planar, [step], output: OutputOptions(format: .png))
        #expect(abs(cut.pixel(0, 0)[0] - (10 * x + y)) <= 1)
        #expect(abs(cut.pixel(3, 2)[0] - (10 * (x + 3) + y + 2)) <= 1)
    }

    @Test func aPartMayBeOfTheImage() throws {
        let step = TransformStep.cropTo(
            RelativeSize(width: .percent(50), height: .percent(100)), .center)
        #expect(try transform(base, [step]).size == PixelSize(width: 5, height: 8))
        let large = try transform(base, [.cropTo(pixels(100, 2), .center)])
        #expect(large.size == PixelSize(width: 9, height: 2))
        #expect(large.pixel(0, 0) == base.pixel(0, 3))
    }

    /// Both find a patch of color and detail on gray.
    @Test(arguments: [Gravity.attention, .entropy], PixelPlane.Bands.allCases)
    func whatIsStrikingIsKept(gravity: Gravity, bands: PixelPlane.Bands) throws {
        let isGray = bands.rawValue < 3
        let source = Source(160, 60, bands) { x, y, band in
            if band == (isGray ? 1 : 3) { return 255 }
            guard (115..<135).contains(x), (20..<40).contains(y) else { return 120 }
            return (x / 4 + y / 4) % 2 == 0 ? (band == 0 ? 250 : 20) : 160
        }
        let result = try transform(source, [.cropTo(pixels(50, 60), gravity)])
        #expect(result.size == PixelSize(width: 50, height: 60))
        let striking = (0..<50).count { x in (0..<60).contains { result.pixel(x, $0)[0] > 240 } }
        #expect(striking >= 8)
    }

    private func framed(_ bands: PixelPlane.Bands, wobble: Int) -> Source {
        Source(30, 20, bands) { x, y, band in
            let isInside = (7..<25).contains(x) && (3..<15).contains(y)
            let count = Int(bands.rawValue)
            if count % 2 == 0, band == count - 1 { return 255 }
            return isInside ? 200 : 100 + (x + y) % 2 * wobble
        }
    }

    @Test(arguments: PixelPlane.Bands.allCases)
    func edgesOfOneColorAreTrimmed(bands: PixelPlane.Bands) throws {
        let trimmed = PixelSize(width: 18, height: 12)
        let plain = try transform(framed(bands, wobble: 0), [.trim(tolerance: 0)])
        #expect(plain.size == trimmed)
        #expect(plain.pixel(0, 0)[0] == 200)
        #expect(plain.pixel(17, 11)[0] == 200)
        #expect(try transform(framed(bands, wobble: 5), [.trim(tolerance: 5)]).size == trimmed)
        let whole = PixelSize(width: 30, height: 20)
        #expect(try transform(framed(bands, wobble: 5), [.trim(tolerance: 4)]).size == whole)
        // Everything is within the tolerance: nothing would be left.
        #expect(try transform(framed(bands, wobble: 5), [.trim(tolerance: 200)]).size == whole)
    }

    /// The margins are 7 and 5 columns, 3 and 5 rows; imgproxy's documentation ("Trim"): only equal
    /// parts are cut from opposite sides.
    @Test(
        arguments: [(.horizontal, 20, 12, 2, 0), (.vertical, 18, 14, 0, 0), (.both, 20, 14, 2, 0)]
            as [(EqualMargins, Int, Int, Int, Int)])
    func oppositeEdgesAreTrimmedEqually(
        equal: EqualMargins, width: Int, height: Int, x: Int, y: Int
    ) throws {
        let result = try transform(framed(.rgb, wobble: 0), [.trim(tolerance: 0, equal: equal)])
        #expect(result.size == PixelSize(width: width, height: height))
        #expect(result.pixel(x, y)[0] == 200)
        #expect(x == 0 || result.pixel(x - 1, y)[0] == 100)
        #expect(result.pixel(x + 17, y + 11)[0] == 200)
    }

    /// The corner differs in color from the rows below it and from the right column.
    @Test(arguments: PixelPlane.Bands.allCases)
    func edgesOfAGivenColorAreTrimmed(bands: PixelPlane.Bands) throws {
        let count = Int(bands.rawValue)
        let source = Source(30, 20, bands) { x, y, band in
            if count % 2 == 0, band == count - 1 { return 255 }
            return x == 29 || y > 15 ? 90 : x == 0 ? 10 : 200
        }
        let gray = Color(argb: 0xFF5A_5A5A)
        let trimmed = try transform(source, [.trim(tolerance: 0, gray)])
        #expect(trimmed.size == PixelSize(width: 29, height: 16))
        #expect(trimmed.pixel(0, 0)[0] == 10)
        let near = Color(argb: 0xFF5F_5A5A)
        let whole = PixelSize(width: 30, height: 20)
        #expect(try transform(source, [.trim(tolerance: 4, near)]).size == whole)
        #expect(try transform(source, [.trim(tolerance: 5, near)]).size == trimmed.size)
        // Opaque pixels don't match a transparent color.
        #expect(try transform(source, [.trim(tolerance: 100, .clear)]).size == whole)
    }

    /// Colors of transparent pixels are ignored.
    @Test func transparentEdgesAreTrimmedWhateverTheirColor() throws {
        let source = Source(30, 20, .rgba) { x, y, band in
            let isInside = (7..<25).contains(x) && (3..<15).contains(y)
            return band == 3 ? (isInside ? 255 : 0) : (x * 37 + y * 11) % 256
        }
        let result = try transform(source, [.trim(tolerance: 0)])
        #expect(result.size == PixelSize(width: 18, height: 12))
        #expect(result.pixel(0, 0) == source.pixel(7, 3))
    }

    @Test func stepsAfterATrimWorkOnWhatIsLeft() throws {
        let box = PixelSize(width: 9, height: 100)
        let result = try transform(
            framed(.rgb, wobble: 0), [.trim(tolerance: 0), .resize(box, .fit)])
        #expect(result.size == PixelSize(width: 9, height: 6))
    }

    /// A linear ramp stays one under any rotation, so that each pixel is known; edges fade within
    /// two of them.
    @Test(arguments: [(30.0, true), (-100.0, true), (17.0, false)], PixelPlane.Bands.allCases)
    func anImageIsTurnedByAnyAngle(
        turn: (degrees: Double, fitsSize: Bool), bands: PixelPlane.Bands
    ) throws {
        let count = Int(bands.rawValue)
        let source = Source(60, 40, bands) { x, y, band in
            count % 2 == 0 && band == count - 1 ? 255 : 30 + 2 * x + y
        }
        let angle = turn.degrees * .pi / 180
        let step = TransformStep.rotate(Rotation(radians: angle, fitsSize: turn.fitsSize))
        let result = try transform(source, [step])
        #expect(result.size == step.size(after: source.info.size))
        let image = ScalarImage(result)
        var (inside, outside) = (0, 0)
        for y in 0..<image.height {
            for x in 0..<image.width {
                let across = Double(x) + 0.5 - Double(image.width) / 2
                let down = Double(y) + 0.5 - Double(image.height) / 2
                // The image was rotated counterclockwise, so the inverse is clockwise.
                let left = cos(angle) * across - sin(angle) * down + 30
                let top = sin(angle) * across + cos(angle) * down + 20
                let depth = min(left, 60 - left, top, 40 - top)
                if depth > 2 {
                    inside += 1
                    let wanted = 30 + 2 * (left - 0.5) + top - 0.5
                    #expect(abs(image.at(x, y)[0] - wanted) <= 1)
                    #expect(image.at(x, y)[3] == 255)
                } else if depth < -2 {
                    outside += 1
                    #expect(image.at(x, y)[3] == 0)
                }
            }
        }
        #expect(inside > 1_000 && outside > 100)
    }
}
