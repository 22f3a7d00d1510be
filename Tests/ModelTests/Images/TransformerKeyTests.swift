import Glibc
import Model
import Testing

/// Keys of steps as in SEMANTICS §4.5.
@Suite struct TransformerKeyTests {
    private static let square = PixelSize(width: 100, height: 100)

    @Test(
        arguments: [
            (.resize(square, .stretch), "SDImageResizingTransformer({100.000000,100.000000},0)"),
            (.resize(square, .letterbox), "SDImageResizingTransformer({100.000000,100.000000},1)"),
            (.resize(square, .fill), "SDImageResizingTransformer({100.000000,100.000000},2)"),
            (.resize(square, .fit), "ImagebusFitTransformer({100.000000,100.000000})"),
            (
                .resize(PixelSize(width: 300, height: 0), .fit),
                "ImagebusFitTransformer({300.000000,0.000000})"
            ),
            (
                .resize(PixelSize(width: 0, height: 200), .fill),
                "SDImageResizingTransformer({0.000000,200.000000},2)"
            ),
            (
                .resize(square, .fit, enlarges: true),
                "ImagebusResizingTransformer({100.000000,100.000000},3,1)"
            ),
            (
                .resize(square, .fill, enlarges: false),
                "ImagebusResizingTransformer({100.000000,100.000000},2,0)"
            ),
            (
                .resize(square, .fill, enlarges: true),
                "SDImageResizingTransformer({100.000000,100.000000},2)"
            ),
            (
                .resize(square, .cover), "ImagebusResizingTransformer({100.000000,100.000000},4,1)"
            ),
            (
                .resize(square, .reshape),
                "ImagebusResizingTransformer({100.000000,100.000000},8,0)"
            ),
            (
                .resizeTo(RelativeSize(width: .percent(50), height: .pixels(9)), .fill),
                "ImagebusResizeToTransformer({50.0%x9},2,1,{0.000000,0.000000},center)"
            ),
            (
                .resizeTo(
                    RelativeSize(width: .pixels(9), height: .pixels(0)), .fit, enlarges: true,
                    least: PixelSize(width: 5, height: 0), .pixel(x: 1, y: 2)),
                "ImagebusResizeToTransformer({9x0},3,1,{5.000000,0.000000},px:1.0:2.0)"
            ),
            (
                .cropRatio(AspectRatio(width: 16, height: 9), .attention),
                "ImagebusCropRatioTransformer(16:9,attention)"
            ),
            (
                .padRatio(AspectRatio(width: 16, height: 9), .point(x: 1, y: 0), .white),
                "ImagebusPadRatioTransformer(16:9,northeast,#ffffffff)"
            ),
            (
                .rotate(Rotation(radians: .pi / 4, fitsSize: false)),
                "SDImageRotationTransformer(0.785398,0)"
            ),
            (
                .rotate(Rotation(degreesClockwise: 90)), "SDImageRotationTransformer(-1.570796,1)"
            ),
            (.flip(horizontal: true, vertical: true), "SDImageFlippingTransformer(1,1)"),
            (.flip(horizontal: false, vertical: true), "SDImageFlippingTransformer(0,1)"),
            (
                .crop(PixelRect(x: 0, y: 0, size: PixelSize(width: 50, height: 50))),
                "SDImageCroppingTransformer({0.000000,0.000000,50.000000,50.000000})"
            ),
            (
                .crop(PixelRect(x: -5, y: 7, size: PixelSize(width: 1, height: 32_767))),
                "SDImageCroppingTransformer({-5.000000,7.000000,1.000000,32767.000000})"
            ),
            (.blur(radius: 5), "SDImageBlurTransformer(5.000000)"),
            (.invert, "SDImageFilterTransformer(CIColorInvert)"),
            (.flatten(.white), "ImagebusFlattenTransformer(#ffffffff)"),
            (
                .pad(square, .point(x: 1, y: 0), .clear),
                "ImagebusPadTransformer({100.000000,100.000000},northeast,#00000000)"
            ),
            (
                .cropTo(RelativeSize(width: .pixels(9), height: .percent(50)), .center),
                "ImagebusCropToTransformer({9x50.0%},center)"
            ),
            (.trim(tolerance: 10), "ImagebusTrimTransformer(10.000000)"),
            (.trim(tolerance: 0, .white), "ImagebusTrimTransformer(0.000000,#ffffffff)"),
            (
                .trim(tolerance: 0, .white, equal: .both),
                "ImagebusTrimTransformer(0.000000,#ffffffff,both)"
            ),
            (
                .trim(tolerance: 1, equal: .vertical),
                "ImagebusTrimTransformer(1.000000,vertical)"
            ),
            (
                .extend(Margins(left: 1, top: 2, right: 3, bottom: 4), .color(.white)),
                "ImagebusExtendTransformer({1.000000,2.000000,3.000000,4.000000},#ffffffff)"
            ),
            (
                .extend(Margins(top: 9), .mirror),
                "ImagebusExtendTransformer({0.000000,9.000000,0.000000,0.000000},mirror)"
            ),
            (.pixelate(10), "ImagebusPixelateTransformer(10.000000)"),
            (.gamma(2.2), "ImagebusGammaTransformer(2.200000)"),
            (.sharpen(radius: 2), "ImagebusSharpenTransformer(2.000000)"),
            (.sharpen(radius: 2, amount: 0.5), "ImagebusSharpenTransformer(2.000000,0.500000)"),
            (
                .colorMatrix(.negative),
                "ImagebusColorMatrixTransformer({-1.000000,0.000000,0.000000,1.000000},"
                    + "{0.000000,-1.000000,0.000000,1.000000},"
                    + "{0.000000,0.000000,-1.000000,1.000000})"
            ),
            (
                .modulate(saturation: 1.5, hue: -90),
                "ImagebusModulateTransformer(1.000000,1.500000,-90.000000)"
            ),
            (
                .monochrome(.white, intensity: 0.5),
                "ImagebusMonochromeTransformer(#ffffffff,0.500000)"
            ),
            (.grayscale, "ImagebusGrayscaleTransformer()"),
            (
                .round(radius: 50, border: 1, Color(argb: 0xFF00_0000)),
                "SDImageRoundCornerTransformer(50.000000,18446744073709551615,1.000000,#ff000000)"
            ),
            (
                .round(radius: 0.5, [.topRight, .bottomLeft]),
                "SDImageRoundCornerTransformer(0.500000,6,0.000000,(null))"
            ),
            (
                .round(radius: 5, [.topLeft, .topRight, .bottomLeft, .bottomRight]),
                "SDImageRoundCornerTransformer(5.000000,18446744073709551615,0.000000,(null))"
            ),
            (.tint(.clear), "SDImageTintTransformer(#00000000,18)"),
            (.tint(Color(argb: 0x80FF_0010), .normal), "SDImageTintTransformer(#80ff0010,0)"),
            (.tint(.white, .plusLighter), "SDImageTintTransformer(#ffffffff,27)"),
        ] as [(TransformStep, String)])
    func aStepHasTheKeyOfUpstream(step: TransformStep, key: String) {
        #expect(step.key == key)
    }

    /// `CGBlendMode` values, as in upstream's keys.
    @Test func modesHaveTheNumbersOfUpstream() {
        let numbers: [(String, UInt8)] = [
            ("normal", 0), ("overlay", 3), ("color-dodge", 6), ("soft-light", 8),
            ("exclusion", 11), ("luminosity", 15), ("clear", 16), ("copy", 17), ("source-in", 18),
            ("destination-over", 21), ("xor", 25), ("plus-darker", 26), ("plus-lighter", 27),
        ]
        for (name, number) in numbers { #expect(BlendMode(name: name)?.rawValue == number) }
        #expect(BlendMode.allCases.count == 28)
        #expect(BlendMode.allCases.allSatisfy { BlendMode(name: $0.name) == $0 })
    }

    private func decimals(_ value: Double) -> String {
        let key = TransformStep.rotate(Rotation(radians: value, fitsSize: false)).key
        return String(key.dropFirst("SDImageRotationTransformer(".count).dropLast(",0)".count))
    }

    @Test(arguments: [
        (0, "0.000000"), (-0.0, "0.000000"), (1, "1.000000"), (-1, "-1.000000"),
        (0.000_001, "0.000001"), (-0.000_000_1, "0.000000"), (0.999_999_9, "1.000000"),
        (-0.999_999_9, "-1.000000"), (123_456.789, "123456.789000"), (0.1, "0.100000"),
        (8_999_999_999_999, "8999999999999.000000"), (9e12, "0.000000"), (-1e300, "0.000000"),
        (.infinity, "0.000000"), (.nan, "0.000000"),
    ])
    func anAngleHasSixDecimals(value: Double, text: String) {
        #expect(decimals(value) == text)
    }

    /// Multiples of a hundredth of a degree, the usual precision of angles.
    @Test func anglesAreWrittenAsCWritesThem() {
        for hundredths in -72_000...72_000 {
            let radians = Double(hundredths) / 100 * .pi / 180
            let text = withVaList([radians]) { arguments in
                var buffer = [CChar](repeating: 0, count: 64)
                vsnprintf(&buffer, buffer.count, "%f", arguments)
                return String(decoding: buffer.prefix { $0 != 0 }.map(UInt8.init), as: UTF8.self)
            }
            let expected = text == "-0.000000" ? "0.000000" : text
            #expect(decimals(radians) == expected, "\(hundredths)")
        }
    }

    @Test(
        arguments: [
            (0, 0), (90, 1), (180, 2), (270, 3), (360, 0), (450, 1), (-90, 3), (-180, 2), (-360, 0),
            (3_690, 1), (90.000_5, 1),
        ] as [(Double, Int)])
    func quarterTurnsAreKnown(degrees: Double, turns: Int) {
        #expect(Rotation(degreesClockwise: degrees).quarterTurnsClockwise == turns)
        #expect(Rotation(degreesClockwise: degrees).fitsSize)
    }

    @Test(arguments: [45, 1, 89.99, 90.01, -44, .infinity, .nan, 1e30] as [Double])
    func otherAnglesAreNoQuarterTurns(degrees: Double) {
        #expect(Rotation(degreesClockwise: degrees).quarterTurnsClockwise == nil)
    }

    @Test func aTurnedImageHasTheSizeOfWhatHoldsIt() {
        let square = PixelSize(width: 300, height: 300)
        let turn = TransformStep.rotate(Rotation(radians: .pi / 4, fitsSize: true))
        #expect(turn.size(after: square) == PixelSize(width: 425, height: 425))
    }
}
