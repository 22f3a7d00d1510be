import Model
import Testing
import Vips

/// Placement of an overlay: position, size, tiling and blend modes.
@Suite struct OverlayMannerTests {
    private let base = Source(40, 20) { _, _, _ in 100 }
    private let red = Source(10, 6) { _, _, band in band == 0 ? 255 : 0 }

    /// The columns and rows that are red.
    private func covered(_ image: Transformed) -> [Int] {
        var (left, top, right, bottom) = (Int.max, Int.max, -1, -1)
        for y in 0..<image.header.height {
            for x in 0..<image.header.width where image.pixel(x, y)[0] > 250 {
                (left, top) = (min(left, x), min(top, y))
                (right, bottom) = (max(right, x), max(bottom, y))
            }
        }
        return right < 0 ? [] : [left, top, right - left + 1, bottom - top + 1]
    }

    /// Left and top of 10 × 6 pixels on 40 × 20, computed by hand.
    @Test(arguments: [
        ("center", 0, 0, 15, 7), ("north", 0, 0, 15, 0), ("northeast", 0, 0, 30, 0),
        ("east", 0, 0, 30, 7), ("southeast", 0, 0, 30, 14), ("south", 0, 0, 15, 14),
        ("southwest", 0, 0, 0, 14), ("west", 0, 0, 0, 7), ("northwest", 0, 0, 0, 0),
        ("fp:0.5:1", 0, 0, 15, 14), ("fp:0.1:0.5", 0, 0, 3, 7),
        // Inwards, from the center to the right and down.
        ("southeast", 3, 2, 27, 12), ("northwest", 3, 2, 3, 2), ("northeast", 3, 2, 27, 2),
        ("southwest", 3, 2, 3, 12), ("center", 3, 2, 18, 9), ("south", -5, 1, 10, 13),
    ])
    func aPlaceIsThatOfTheImage(
        _ gravity: String, _ x: Int, _ y: Int, _ left: Int, _ top: Int
    ) throws {
        let overlay = Overlay(url: "", x: x, y: y, gravity: Gravity(gravity))
        let image = try transform(base, [.overlay(overlay)], overlays: [red])
        #expect(covered(image) == [left, top, 10, 6])
    }

    @Test func whatIsMovedOutsideIsCutOff() throws {
        let overlay = Overlay(url: "", x: -4, y: -1, gravity: Gravity("southeast"))
        let image = try transform(base, [.overlay(overlay)], overlays: [red])
        #expect(covered(image) == [34, 15, 6, 5])
        for mode in [BlendMode.normal, .copy] {
            let far = Overlay(url: "", x: 40, gravity: Gravity("northeast"), mode: mode)
            #expect(try covered(transform(base, [.overlay(far)], overlays: [red])).isEmpty)
        }
    }

    /// 10 × 6 in a box of the image's 40 × 20, as large as its ratio permits.
    @Test(arguments: [
        ("50%x100%", 20, 12), ("100%x100%", 33, 20), ("100%x30%", 10, 6), ("25%x10%", 3, 2),
        ("5x5", 5, 3), ("32767x12", 20, 12),
    ])
    func aSizeIsABox(_ size: String, _ width: Int, _ height: Int) throws {
        let overlay = Overlay(url: "", gravity: Gravity("southeast"), size: RelativeSize(size))
        let image = try transform(base, [.overlay(overlay)], overlays: [red])
        #expect(covered(image) == [40 - width, 20 - height, width, height])
    }

    /// Each pixel is that of the tile at its position, counted from the origin of one tile.
    @Test(arguments: [
        (Gravity?.none, 0, 0, 0, 0), (.none, -1, -1, 32, 15), (Gravity("center"), 0, 0, 16, 8),
        (Gravity("southeast"), 2, 1, 31, 15), (.none, 100, 100, 100, 100),
    ])
    func tilesLieSideBySide(
        gravity: Gravity?, x: Int, y: Int, left: Int, top: Int
    ) throws {
        let tile = Source(7, 4) { x, y, band in x * 30 + y * 7 + band * 5 }
        let overlay = Overlay(url: "", x: x, y: y, gravity: gravity, repeats: true)
        let image = try transform(base, [.overlay(overlay)], overlays: [tile])
        #expect(image.header.bands == 3)
        for row in 0..<20 {
            for column in 0..<40 {
                let (across, down) = ((column - left + 700) % 7, (row - top + 400) % 4)
                let wanted = (0..<3).map { across * 30 + down * 7 + $0 * 5 }
                #expect(image.pixel(column, row) == wanted, "\(column), \(row)")
            }
        }
    }

    /// Samples of both are mixed by the formulas of W3C's Compositing and Blending.
    @Test(arguments: BlendMode.allCases, [PixelPlane.Bands.rgb, .rgba])
    func eachModeIsItsFormula(mode: BlendMode, bands: PixelPlane.Bands) throws {
        let below = Source.noise(23, 17, bands)
        for above in [Source.noise(23, 17, .rgba), .noise(23, 17, .rgb), .noise(23, 17, .gray)] {
            for opacity in [1, 0.4] {
                let overlay = Overlay(url: "", opacity: opacity, repeats: true, mode: mode)
                let image = try transform(below, [.overlay(overlay)], overlays: [above])
                let (layer, backdrop) = (ScalarImage(above), ScalarImage(below))
                let wanted = ScalarImage(23, 17) { x, y in
                    var source = layer.at(x, y)
                    source[3] *= opacity
                    return Blending.result(mode, source, over: backdrop.at(x, y))
                }
                let seen = ScalarImage(image).premultiplied
                #expect(seen.difference(from: wanted.premultiplied) <= 1.01, "\(opacity)")
            }
        }
    }

    /// A mode affects only pixels that the overlay covers.
    @Test func aModeEndsWhereTheOverlayEnds() throws {
        for mode in BlendMode.allCases {
            let overlay = Overlay(url: "", x: 5, y: 5, mode: mode)
            let image = try transform(base, [.overlay(overlay)], overlays: [red])
            for (x, y) in [(4, 5), (15, 8), (7, 4), (7, 11), (39, 19)] {
                #expect(image.pixel(x, y).prefix(3) == [100, 100, 100], "\(mode)")
            }
            let makes: Set<BlendMode> = [
                .clear, .copy, .sourceIn, .sourceOut, .destinationIn, .destinationOut,
                .destinationAtop, .xor,
            ]
            #expect(image.header.hasAlpha == makes.contains(mode), "\(mode)")
        }
    }

    /// Multiplied with 0.4 of a mark of 200, 100 becomes 100 × (0.6 + 0.4 × 200 / 255).
    @Test func grayIsMultiplied() throws {
        let gray = Source(40, 20, .gray) { _, _, _ in 100 }
        let mark = Source(10, 6, .gray) { _, _, _ in 200 }
        let overlay = Overlay(url: "", opacity: 0.4, gravity: .center, mode: .multiply)
        let image = try transform(gray, [.overlay(overlay)], overlays: [mark])
        #expect(image.pixel(20, 10) == [91, 91, 91])
        #expect(image.pixel(0, 0) == [100, 100, 100])
    }
}
