/// A linear map of colors: each color of the result is a weighted sum of the red, green and blue of
/// a pixel plus an offset, in sRGB samples from 0 to 1.
public struct ColorMatrix: Hashable, Sendable {
    /// The sum that yields one color.
    public struct Row: Hashable, Sendable {
        /// The weight of red, from -1,000 to 1,000 like all numbers of a row.
        public let red: Double
        /// The weight of green.
        public let green: Double
        /// The weight of blue.
        public let blue: Double
        /// The offset; 1 is the full sample.
        public let offset: Double

        /// Accepts any numbers; those out of range are rejected with the request.
        public init(_ red: Double, _ green: Double, _ blue: Double, offset: Double = 0) {
            (self.red, self.green, self.blue, self.offset) = (red, green, blue, offset)
        }
    }

    /// The sum for red.
    public var red: Row
    /// The sum for green.
    public var green: Row
    /// The sum for blue.
    public var blue: Row

    /// Creates a matrix from its rows.
    public init(red: Row, green: Row, blue: Row) {
        (self.red, self.green, self.blue) = (red, green, blue)
    }

    /// Changes nothing.
    public static let identity = ColorMatrix(
        red: Row(1, 0, 0), green: Row(0, 1, 0), blue: Row(0, 0, 1))

    /// The negative: 1 minus each sample. Unlike `TransformStep.invert`, not in linear light.
    public static let negative = ColorMatrix(
        red: Row(-1, 0, 0, offset: 1), green: Row(0, -1, 0, offset: 1),
        blue: Row(0, 0, -1, offset: 1))

    /// Luma (BT.601), as in the first plane of a JPEG.
    package static let luma = Row(0.299, 0.587, 0.114)

    /// A duotone: the luma of a pixel selects a color between `dark` (0) and `light` (1), whose
    /// alpha is ignored.
    ///
    /// - Parameter intensity: the share of that color, 0 to 1; the rest is the pixel's own color.
    public static func duotone(
        dark: Color, light: Color, intensity: Double = 1
    ) -> ColorMatrix {
        func row(_ own: Row, _ dark: UInt8, _ light: UInt8) -> Row {
            let span = intensity * (Double(light) - Double(dark)) / 255
            return Row(
                (1 - intensity) * own.red + span * luma.red,
                (1 - intensity) * own.green + span * luma.green,
                (1 - intensity) * own.blue + span * luma.blue,
                offset: intensity * Double(dark) / 255)
        }
        return ColorMatrix(
            red: row(identity.red, dark.red, light.red),
            green: row(identity.green, dark.green, light.green),
            blue: row(identity.blue, dark.blue, light.blue))
    }
}

extension ColorMatrix.Row: CustomStringConvertible {
    static let expected = "RED:GREEN:BLUE[:OFFSET], numbers from -1000 to 1000"

    /// Parses `RED:GREEN:BLUE` or `RED:GREEN:BLUE:OFFSET`; returns `nil` for anything else.
    public init?(_ text: String) {
        let numbers = text.split(separator: ":", omittingEmptySubsequences: false)
            .compactMap { PlainNumber.decimal(String($0)) }
        guard numbers.count == text.count(where: { $0 == ":" }) + 1, (3...4).contains(numbers.count)
        else { return nil }
        self.init(numbers[0], numbers[1], numbers[2], offset: numbers.count > 3 ? numbers[3] : 0)
    }

    /// The text that `init` accepts.
    public var description: String { "\(red):\(green):\(blue):\(offset)" }

    package var numbers: [Double] { [red, green, blue, offset] }

    var isPermitted: Bool { numbers.allSatisfy((-1_000...1_000).contains) }
}

/// Mixes red, green and blue.
package struct ColorMatrixStep: ValuedStep {
    package var matrix: ColorMatrix

    package var key: String {
        let rows = [matrix.red, matrix.green, matrix.blue].map {
            "{" + $0.numbers.map(decimalText).joined(separator: ",") + "}"
        }
        return "ImagebusColorMatrixTransformer(\(rows.joined(separator: ",")))"
    }

    package static let values: [StepValue<Self>] = [
        .row("red", \.matrix.red), .row("green", \.matrix.green), .row("blue", \.matrix.blue),
    ]

    package static let blank = ColorMatrixStep(matrix: .identity)

    package var step: TransformStep { .colorMatrix(matrix) }

    package static let syntax = StepSyntax(
        "color-matrix", value: "RED,GREEN,BLUE",
        expected: "three sums \(ColorMatrix.Row.expected), such as -1:0:0:1,0:-1:0:1,0:0:-1:1",
        parse)
}

/// Scales lightness and chroma, and rotates the hue.
package struct ModulateStep: ValuedStep {
    package var lightness: Double
    package var saturation: Double
    package var hue: Double

    package var key: String {
        "ImagebusModulateTransformer(\(decimalText(lightness)),\(decimalText(saturation)),"
            + "\(decimalText(hue)))"
    }

    package static let values: [StepValue<Self>] = [
        .number("lightness", \.lightness, in: factors),
        .number("saturation", \.saturation, in: factors, isOptional: true),
        .number("hue", \.hue, in: -360...360, isOptional: true),
    ]

    private static let factors = 0.0...10_000

    package static let blank = ModulateStep(lightness: 1, saturation: 1, hue: 0)

    package var step: TransformStep {
        .modulate(lightness: lightness, saturation: saturation, hue: hue)
    }

    package static let syntax = StepSyntax(
        "modulate", value: "LIGHTNESS[,SATURATION[,HUE]]",
        expected: "LIGHTNESS[,SATURATION[,HUE]], factors from 0 to 10000 and degrees from -360 to "
            + "360, such as 1,1.5,90", parse)
}

/// Replaces all colors by shades and tints of one.
package struct MonochromeStep: ValuedStep {
    package var color: Color
    package var intensity: Double

    package var key: String {
        "ImagebusMonochromeTransformer(\(color.hexText),\(decimalText(intensity)))"
    }

    package static let values: [StepValue<Self>] = [
        .color(\.color, isOptional: false, isOpaque: true),
        .number("intensity", \.intensity, in: 0...1, isOptional: true),
    ]

    package static let blank = MonochromeStep(color: .white, intensity: 1)

    package var step: TransformStep { .monochrome(color, intensity: intensity) }

    package static let syntax = StepSyntax(
        "monochrome", value: "#RRGGBB[,INTENSITY]",
        expected: "an opaque color and an intensity from 0 to 1, such as #704214,0.8", parse)
}
