import Glibc
import Model
import Testing
import Vips

/// Steps that change colors, each compared with plain arithmetic.
@Suite struct ColorStepTests {
    /// The expected result for one pixel's color, without alpha.
    private static let tones: [(TransformStep, @Sendable ([Double]) -> [Double])] = [
        (.invert, { $0.map { inverted($0 / 255) * 255 } }),
        (.brightness(20), { $0.map { $0 + 51 } }), (.brightness(-40), { $0.map { $0 - 102 } }),
        (.contrast(-50), { $0.map { 127.5 + ($0 - 127.5) / 2 } }),
        (.contrast(20), { $0.map { 127.5 + ($0 - 127.5) * 1.5 } }),
        (.gamma(2.2), { $0.map { 255 * pow($0 / 255, 1 / 2.2) } }),
        (.saturation(-100), { color in color.map { _ in light(color) } }),
        (.saturation(50), { color in color.map { light(color) * -0.5 + $0 * 1.5 } }),
        (.grayscale, { color in color.map { _ in light(color) } }),
        (
            .sepia,
            {
                [
                    0.393 * $0[0] + 0.769 * $0[1] + 0.189 * $0[2],
                    0.349 * $0[0] + 0.686 * $0[1] + 0.168 * $0[2],
                    0.272 * $0[0] + 0.534 * $0[1] + 0.131 * $0[2],
                ]
            }
        ),
        (.colorMatrix(.negative), { $0.map { 255 - $0 } }),
        (
            .colorMatrix(
                ColorMatrix(
                    red: .init(0.5, 0.25, 0, offset: 0.1), green: .init(0, 0, 1),
                    blue: .init(2, 0, -1, offset: -0.2))),
            { [0.5 * $0[0] + 0.25 * $0[1] + 25.5, $0[2], 2 * $0[0] - $0[2] - 51] }
        ),
        (
            .colorMatrix(
                .duotone(
                    dark: Color(argb: 0xFF10_2030), light: Color(argb: 0xFFF0_E0D0),
                    intensity: 0.75)),
            { color in
                let luma = light(color) / 255
                return zip(color, zip([16.0, 32, 48], [240.0, 224, 208])).map { own, ends in
                    own / 4 + (ends.0 + (ends.1 - ends.0) * luma) * 3 / 4
                }
            }
        ),
    ]

    /// a* and b* of #804020, as ImageMagick computes them.
    private static let brown = (a: 25.0, b: 31.4)

    /// The expected result for L*, a* and b* of one pixel.
    private static let labTones: [(TransformStep, @Sendable ([Double]) -> [Double])] = [
        (.modulate(), { $0 }), (.modulate(lightness: 0.5), { [$0[0] / 2, $0[1], $0[2]] }),
        (.modulate(lightness: 1.2, saturation: 0.5), { [$0[0] * 1.2, $0[1] / 2, $0[2] / 2] }),
        (.modulate(saturation: 1.5), { [$0[0], $0[1] * 1.5, $0[2] * 1.5] }),
        (.modulate(saturation: 0), { [$0[0], 0, 0] }),
        (.modulate(hue: 90), { [$0[0], -$0[2], $0[1]] }),
        (.modulate(hue: -180), { [$0[0], -$0[1], -$0[2]] }),
        (.monochrome(Color(argb: 0xFF80_4020)), { [$0[0], brown.a, brown.b] }),
        (
            .monochrome(Color(argb: 0xFF80_4020), intensity: 0.25),
            { [$0[0], $0[1] * 3 / 4 + brown.a / 4, $0[2] * 3 / 4 + brown.b / 4] }
        ),
        (.monochrome(Color(argb: 0xFFB3_B3B3)), { [$0[0], 0, 0] }),
    ]

    /// Inverted in linear light (IEC 61966-2-1).
    private static func inverted(_ sample: Double) -> Double {
        let light = 1 - (sample <= 0.04045 ? sample / 12.92 : pow((sample + 0.055) / 1.055, 2.4))
        return light <= 0.0031308 ? light * 12.92 : 1.055 * pow(light, 1 / 2.4) - 0.055
    }

    private static func light(_ color: [Double]) -> Double {
        0.299 * color[0] + 0.587 * color[1] + 0.114 * color[2]
    }

    /// Only rounding differs: half a sample, or one if a half is rounded the other way.
    @Test(arguments: PixelPlane.Bands.allCases)
    func tonesAreThoseOfTheFormula(bands: PixelPlane.Bands) throws {
        let source = Source.noise(23, 17, bands)
        for (step, formula) in Self.tones {
            let wanted = ScalarImage(source).map { formula(Array($0.prefix(3))) + [$0[3]] }
            let result = try transform(source, [step])
            #expect(ScalarImage(result).difference(from: wanted) <= 0.51, "\(step)")
            #expect(result.header.hasAlpha == (bands.rawValue % 2 == 0), "\(step)")
        }
    }

    /// libvips converts by tables, whose differences add up to less than two samples.
    @Test(arguments: PixelPlane.Bands.allCases)
    func tonesInLabAreThoseOfTheFormula(bands: PixelPlane.Bands) throws {
        let source = Source.noise(23, 17, bands)
        for (step, formula) in Self.labTones {
            let wanted = ScalarImage(source).map {
                LabColor.samples(formula(LabColor.components(Array($0.prefix(3))))) + [$0[3]]
            }
            let result = try transform(source, [step])
            #expect(ScalarImage(result).difference(from: wanted) <= 2, "\(step)")
            #expect(result.header.hasAlpha == (bands.rawValue % 2 == 0), "\(step)")
        }
    }

    /// A Gaussian of premultiplied pixels, with tails as far as they contribute.
    private func blurred(_ source: Source, sigma: Double) -> ScalarImage {
        let reach = Int(4 * sigma)
        let line = (-reach...reach).map { exp(-Double($0 * $0) / (2 * sigma * sigma)) }
        let sum = line.reduce(0, +)
        let across = zip(-reach...reach, line).map { (x: $0, y: 0, weight: $1 / sum) }
        let down = across.map { (x: 0, y: $0.x, weight: $0.weight) }
        return ScalarImage(source).premultiplied.sum(across).sum(down).straight
    }

    /// The tails that libvips drops are below a hundredth of the peak: 1 of 255.
    @Test(arguments: PixelPlane.Bands.allCases)
    func aBlurIsAGaussianOfWhatIsSeen(bands: PixelPlane.Bands) throws {
        let source = Source.noise(40, 30, bands)
        for sigma in [3, 1, 0.5, 0.35] {
            let result = try ScalarImage(transform(source, [.blur(radius: sigma)]))
            #expect(result.difference(from: blurred(source, sigma: sigma)) <= 2)
        }
    }

    /// `vips gaussmat m.mat SIGMA 0.01 --separable --precision float` (libvips 8.14) makes a mask of
    /// one pixel for 0.3295, and of three for 0.3296.
    @Test(arguments: PixelPlane.Bands.allCases)
    func aMaskOfOnePixelChangesNothing(bands: PixelPlane.Bands) throws {
        let source = Source.noise(40, 30, bands)
        for radius in [0, 0.01, 0.3295] {
            for step in [TransformStep.blur(radius: radius), .sharpen(radius: radius)] {
                let still = try ScalarImage(transform(source, [step]))
                #expect(still.difference(from: ScalarImage(source)) == 0, "\(step)")
            }
        }
        for step in [TransformStep.blur(radius: 0.3296), .sharpen(radius: 0.3296)] {
            let changed = try ScalarImage(transform(source, [step]))
            #expect(changed.difference(from: ScalarImage(source)) > 0, "\(step)")
        }
    }

    @Test(arguments: PixelPlane.Bands.allCases)
    func whatIsSharpenedIsWhatABlurTakesAwayTwice(bands: PixelPlane.Bands) throws {
        let source = Source.noise(40, 30, bands)
        let (image, soft) = (ScalarImage(source), blurred(source, sigma: 1.5))
        for amount in [1, 0.375, 0] {
            let wanted = ScalarImage(40, 30) { x, y in
                let (pixel, blur) = (image.at(x, y), soft.at(x, y))
                return (0..<3).map { pixel[$0] + amount * (pixel[$0] - blur[$0]) } + [pixel[3]]
            }
            let step = TransformStep.sharpen(radius: 1.5, amount: amount)
            let result = try ScalarImage(transform(source, [step]))
            #expect(result.difference(from: wanted) <= 2)
        }
    }

    /// In squares that extend beyond the edge, the edge is repeated.
    @Test(arguments: PixelPlane.Bands.allCases)
    func pixelsAreTheMeansOfTheirSquares(bands: PixelPlane.Bands) throws {
        let source = Source.noise(23, 17, bands)
        let image = ScalarImage(source).premultiplied
        let wanted = ScalarImage(23, 17) { x, y in
            var sum = [0.0, 0, 0, 0]
            for place in 0..<25 {
                let pixel = image.at(x / 5 * 5 + place % 5, y / 5 * 5 + place / 5)
                for band in 0..<4 { sum[band] += pixel[band] / 25 }
            }
            return sum
        }.straight
        let result = try ScalarImage(transform(source, [.pixelate(5)]))
        #expect(result.difference(from: wanted) <= 0.51)
    }

    @Test(arguments: PixelPlane.Bands.allCases)
    func aVignetteDarkensByTheSquareOfTheDistance(bands: PixelPlane.Bands) throws {
        let source = Source.noise(21, 11, bands)
        let image = ScalarImage(source)
        let wanted = ScalarImage(21, 11) { x, y in
            let (across, down) = ((Double(x) - 10) / 10.5, (Double(y) - 5) / 5.5)
            let light = 1 - 0.6 * (across * across + down * down) / 2
            return image.at(x, y).prefix(3).map { $0 * light } + [image.at(x, y)[3]]
        }
        let result = try ScalarImage(transform(source, [.vignette(60)]))
        #expect(result.difference(from: wanted) <= 0.51)
        #expect(result.at(10, 5) == image.at(10, 5))
    }

    @Test(arguments: PixelPlane.Bands.allCases)
    func whatIsTransparentShowsTheColorBehindIt(bands: PixelPlane.Bands) throws {
        let source = Source.noise(23, 17, bands)
        let behind = [16.0, 128, 240]
        let wanted = ScalarImage(source).map { pixel in
            let alpha = pixel[3] / 255
            return (0..<3).map { pixel[$0] * alpha + behind[$0] * (1 - alpha) } + [255]
        }
        let result = try transform(source, [.flatten(Color(argb: 0xFF10_80F0))])
        #expect(ScalarImage(result).difference(from: wanted) <= 1)
        #expect(!result.header.hasAlpha)
    }

    /// The first plane is luma: no other plane is used, and a JPEG gets one plane.
    @Test func planesLoseTheirColorsInTheirLane() throws {
        let planar = Source.planar(40, 24, blue: 90, red: 170) { x, y in 60 + 3 * x + 2 * y }
        let result = try transform(planar, [.grayscale], output: OutputOptions(format: .png))
        #expect(result.header.bands == 1)
        #expect(result.pixel(7, 3) == [87])
        let half = try transform(
            planar, [.grayscale, .resize(PixelSize(width: 20, height: 12), .stretch)],
            output: OutputOptions(format: .jpeg))
        #expect(half.header.bands == 1)
        #expect(abs(half.pixel(10, 6)[0] - (60 + 61 + 25)) <= 3)
    }
}

/// CIELAB (CIE 15, D65) of sRGB samples from 0 to 255 (IEC 61966-2-1).
private enum LabColor {
    private static let white = [0.9505, 1, 1.089]

    private static func product(_ matrix: [[Double]], _ column: [Double]) -> [Double] {
        matrix.map { row in zip(row, column).reduce(0) { $0 + $1.0 * $1.1 } }
    }

    /// L*, a* and b*.
    static func components(_ samples: [Double]) -> [Double] {
        let light = samples.map { sample in
            let part = sample / 255
            return part <= 0.04045 ? part / 12.92 : pow((part + 0.055) / 1.055, 2.4)
        }
        let matrix = [
            [0.4124, 0.3576, 0.1805], [0.2126, 0.7152, 0.0722], [0.0193, 0.1192, 0.9505],
        ]
        let roots = zip(product(matrix, light), white).map { value, white in
            let part = value / white
            return part > 0.008856 ? cbrt(part) : 7.787 * part + 16.0 / 116
        }
        return [
            116 * roots[1] - 16, 500 * (roots[0] - roots[1]), 200 * (roots[1] - roots[2]),
        ]
    }

    /// The samples, clipped.
    static func samples(_ components: [Double]) -> [Double] {
        let y = (components[0] + 16) / 116
        let roots = [y + components[1] / 500, y, y - components[2] / 200]
        let values = zip(roots, white).map { root, white in
            white * (root > 0.206893 ? root * root * root : (root - 16.0 / 116) / 7.787)
        }
        let matrix = [
            [3.2406, -1.5372, -0.4986], [-0.9689, 1.8758, 0.0415], [0.0557, -0.2040, 1.0570],
        ]
        return product(matrix, values).map { light in
            let part = min(max(0, light), 1)
            return 255 * (part <= 0.0031308 ? part * 12.92 : 1.055 * pow(part, 1 / 2.4) - 0.055)
        }
    }
}
