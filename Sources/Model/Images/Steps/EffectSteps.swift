/// Composites transparent pixels over a color.
package struct FlattenStep: ValuedStep {
    package var color: Color

    package var key: String { "ImagebusFlattenTransformer(\(color.hexText))" }

    package var demand: StepDemand { .nothing }

    package static let values: [StepValue<Self>] = [
        .color(\.color, isOptional: false, isOpaque: true)
    ]

    package static let blank = FlattenStep(color: .white)

    package var step: TransformStep { .flatten(color) }

    package static let syntax = StepSyntax(
        "flatten", value: "#RRGGBB", expected: "an opaque color, such as #FFFFFF", parse)
}

/// Converts to grayscale.
package struct GrayscaleStep: ValuedStep {
    package var key: String { "ImagebusGrayscaleTransformer()" }

    package var demand: StepDemand { .nothing }

    package static let blank = GrayscaleStep()

    package var step: TransformStep { .grayscale }

    package static let syntax = StepSyntax(
        "grayscale", .grayscale)
}

/// Applies a sepia tone.
package struct SepiaStep: ValuedStep {
    package var key: String { "ImagebusSepiaTransformer()" }

    package static let blank = SepiaStep()

    package var step: TransformStep { .sepia }

    package static let syntax = StepSyntax(
        "sepia", .sepia)
}

/// Inverts the colors. In SDWebImage this is a Core Image filter.
package struct InvertStep: ValuedStep {
    package var key: String { "SDImageFilterTransformer(CIColorInvert)" }

    package static let blank = InvertStep()

    package var step: TransformStep { .invert }

    package static let syntax = StepSyntax("invert", .invert)
}

/// Blends the image with a color.
package struct TintStep: ValuedStep {
    package var color: Color
    package var mode: BlendMode

    package var key: String { "SDImageTintTransformer(\(color.hexText),\(mode.rawValue))" }

    package static let values: [StepValue<Self>] = [
        .color(\.color, isOptional: false), .mode(\.mode),
    ]

    package static let blank = TintStep(color: .clear, mode: .sourceIn)

    package var step: TransformStep { .tint(color, mode) }

    package static let syntax = StepSyntax(
        "tint", value: "#AARRGGBB[,MODE]",
        expected: "COLOR[,MODE], such as #80FF0000,multiply; MODE is one of \(BlendMode.expected)",
        parse)
}

/// Changes the brightness.
package struct BrightnessStep: NumberStep {
    package var number: Double

    package static let traits = NumberTraits<Self>(
        "brightness", "amount", in: -100...100, key: "ImagebusBrightnessTransformer",
        expected: "a percentage from -100 to 100, such as 20"
    ) { .brightness($0) }

    package init(_ number: Double) { self.number = number }
}

/// Changes the contrast.
package struct ContrastStep: NumberStep {
    package var number: Double

    package static let traits = NumberTraits<Self>(
        "contrast", "amount", in: -100...100, key: "ImagebusContrastTransformer",
        expected: "a percentage from -100 to 100, such as 20"
    ) { .contrast($0) }

    package init(_ number: Double) { self.number = number }

    /// Creates the step whose tones have this slope, at least 0; 1 has no effect.
    package init(slope: Double) {
        number = slope < 1 ? (slope - 1) * 100 : 100 * (slope - 1) / (slope + 1)
    }
}

/// Changes the color saturation.
package struct SaturationStep: NumberStep {
    package var number: Double

    package static let traits = NumberTraits<Self>(
        "saturation", "amount", in: -100...100, key: "ImagebusSaturationTransformer",
        expected: "a percentage from -100 to 100, such as 20"
    ) { .saturation($0) }

    package init(_ number: Double) { self.number = number }
}

/// Changes the brightness of the midtones.
package struct GammaStep: NumberStep {
    package var number: Double

    package static let traits = NumberTraits<Self>(
        "gamma", "exponent", in: 0.1...10, key: "ImagebusGammaTransformer",
        expected: "a number from 0.1 to 10, such as 2.2"
    ) { .gamma($0) }

    package init(_ number: Double) { self.number = number }
}

/// Applies a Gaussian blur, whose standard deviation is the radius. One below 0.33 has no effect.
/// Unlike in SDWebImage, one below 2 is not rounded up.
package struct BlurStep: NumberStep {
    package var number: Double

    package static let traits = NumberTraits<Self>(
        "blur", "radius", in: 0...100, key: "SDImageBlurTransformer",
        expected: "a radius from 0 to 100, such as 5"
    ) { .blur(radius: $0) }

    package init(_ number: Double) { self.number = number }

    package func scaled(by ratio: Double) -> TransformStep? { .blur(radius: number * ratio) }
}

/// Applies an unsharp mask. A radius below 0.33 has no effect.
package struct SharpenStep: ValuedStep {
    package var radius: Double
    package var amount: Double

    package var key: String {
        let amount = amount == 1 ? "" : ",\(decimalText(amount))"
        return "ImagebusSharpenTransformer(\(decimalText(radius))\(amount))"
    }

    package func scaled(by ratio: Double) -> TransformStep? {
        .sharpen(radius: radius * ratio, amount: amount)
    }

    package static let values: [StepValue<Self>] = [
        .number("radius", \.radius, in: 0...10),
        .number("amount", \.amount, in: 0...100, isOptional: true),
    ]

    package static let blank = SharpenStep(radius: 1, amount: 1)

    package var step: TransformStep { .sharpen(radius: radius, amount: amount) }

    package static let syntax = StepSyntax(
        "sharpen", value: "RADIUS[,AMOUNT]",
        expected: "a radius from 0 to 10, such as 1, and an amount from 0 to 100, such as 1,0.5",
        parse)
}

/// Pixelates into uniform squares.
package struct PixelateStep: NumberStep {
    package var number: Int

    package static let traits = NumberTraits<Self>(
        "pixelate", "side", in: 2...1000, key: "ImagebusPixelateTransformer",
        expected: "a side from 2 to 1000, such as 10"
    ) { .pixelate($0) }

    package init(_ number: Int) { self.number = number }

    package func scaled(by ratio: Double) -> TransformStep? {
        .pixelate(Model.scaled(number, by: ratio))
    }
}

/// Darkens the edges.
package struct VignetteStep: NumberStep {
    package var number: Double

    package static let traits = NumberTraits<Self>(
        "vignette", "amount", in: 0...100, key: "ImagebusVignetteTransformer",
        expected: "a percentage from 0 to 100, such as 50"
    ) { .vignette($0) }

    package init(_ number: Double) { self.number = number }
}

/// Rounds the corners and optionally draws a border.
package struct RoundStep: ValuedStep {
    package var radius: Double
    package var corners: Corners
    package var border: Double
    package var color: Color?

    package var key: String {
        "SDImageRoundCornerTransformer(\(decimalText(radius)),\(corners.keyText),"
            + "\(decimalText(border)),\(color?.hexText ?? "(null)"))"
    }

    /// Returns `nil` if the border leaves nothing of the image, as in SDWebImage.
    package func size(after source: PixelSize) -> PixelSize? {
        2 * border < Double(min(source.width, source.height)) ? source : nil
    }

    package func scaled(by ratio: Double) -> TransformStep? {
        .round(radius: radius * ratio, corners, border: border * ratio, color)
    }

    package static let values: [StepValue<Self>] = [
        .number("radius", \.radius, in: lengths), .corners(\.corners),
        .number("border", \.border, in: lengths, isOptional: true), .maybeColor(\.color),
    ]

    private static let lengths = 0...Double(RequestLimits.sideMax)

    package static let blank = RoundStep(radius: 0, corners: .all, border: 0, color: nil)

    package var step: TransformStep { .round(radius: radius, corners, border: border, color) }

    package static let syntax = StepSyntax(
        "round", value: "R[,CORNERS][,BORDER,#RRGGBB]",
        expected: "RADIUS[,CORNERS][,BORDER,COLOR] in pixels up to \(RequestLimits.sideMax), such "
            + "as 20 or 20,tl+tr,2,#FF0000; CORNERS is \(Corners.expected)", parse)
}

/// The corners of an image. The raw values are SDWebImage's.
public struct Corners: OptionSet, Hashable, Sendable {
    /// One bit per corner.
    public let rawValue: UInt8

    /// Accepts any bits; unknown ones are rejected with the request.
    public init(rawValue: UInt8) { self.rawValue = rawValue }

    /// The top left corner.
    public static let topLeft = Corners(rawValue: 1)
    /// The top right corner.
    public static let topRight = Corners(rawValue: 2)
    /// The bottom left corner.
    public static let bottomLeft = Corners(rawValue: 4)
    /// The bottom right corner.
    public static let bottomRight = Corners(rawValue: 8)
    /// All four corners.
    public static let all: Corners = [.topLeft, .topRight, .bottomLeft, .bottomRight]

    private static let words: [(name: String, corner: Corners)] = [
        ("tl", .topLeft), ("tr", .topRight), ("bl", .bottomLeft), ("br", .bottomRight),
    ]

    static let expected = "all, or some of tl, tr, bl and br, such as tl+tr"

    /// Parses `all`, or words joined by `+`; returns `nil` for anything else.
    public init?(_ text: String) {
        guard text != "all" else {
            self = .all
            return
        }
        var corners: Corners = []
        for part in text.split(separator: "+", omittingEmptySubsequences: false) {
            guard let word = Self.words.first(where: { $0.name == part }),
                corners.insert(word.corner).inserted
            else { return nil }
        }
        self = corners
    }

    var isPermitted: Bool { !isEmpty && Corners.all.isSuperset(of: self) }

    /// All corners are all 64 bits, like SDWebImage's constant.
    var keyText: String { self == .all ? "\(UInt64.max)" : "\(rawValue)" }
}

extension Corners: CustomStringConvertible {
    /// The text that `init` accepts.
    public var description: String {
        guard self != .all else { return "all" }
        return Self.words.filter { contains($0.corner) }.map(\.name).joined(separator: "+")
    }
}
