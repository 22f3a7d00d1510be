import Model
import Testing
import Vips

/// A color blended onto an image, each mode compared with its defining formula.
@Suite struct TintStepTests {
    private static let colors: [Color] = [
        Color(argb: 0xFF30_A0E0), Color(argb: 0x80E0_2060), Color(argb: 0xFF00_FF80),
        Color(argb: 0xC080_8080), Color(argb: 0xFF00_0000), .white,
    ]

    /// Premultiplied values are compared, as colors with low alpha are imprecise.
    @Test(arguments: BlendMode.allCases, PixelPlane.Bands.allCases)
    func eachModeIsItsFormula(mode: BlendMode, bands: PixelPlane.Bands) throws {
        let source = Source.noise(23, 17, bands)
        for color in Self.colors {
            let paint = [color.red, color.green, color.blue, color.alpha].map { Double($0) }
            let wanted = ScalarImage(source).map { Blending.result(mode, paint, over: $0) }
            let result = try transform(source, [.tint(color, mode)])
            let seen = ScalarImage(result).premultiplied
            #expect(seen.difference(from: wanted.premultiplied) <= 1.01, "\(color)")
        }
    }

    @Test func anImageWithoutTransparencyHasSomeOnlyWhereTheModeMakesIt() throws {
        let source = Source.noise(23, 17, .rgb)
        let veil = Color(argb: 0x80FF_0000)
        for mode in BlendMode.allCases {
            let makes: Set<BlendMode> = [
                .clear, .copy, .sourceIn, .sourceOut, .destinationIn, .destinationOut,
                .destinationAtop, .xor,
            ]
            let result = try transform(source, [.tint(veil, mode)])
            #expect(result.header.hasAlpha == makes.contains(mode), "\(mode)")
        }
        #expect(try !transform(source, [.tint(.white)]).header.hasAlpha)
    }

    @Test func aColorThatIsNotSeenChangesNothing() throws {
        let source = Source.noise(23, 17, .rgba)
        let result = try transform(source, [.tint(Color(argb: 0x00FF_0000), .copy)])
        #expect(ScalarImage(result).difference(from: ScalarImage(source)) == 0)
    }
}
