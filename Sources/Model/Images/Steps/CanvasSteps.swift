/// Crops to a rectangle.
package struct CropStep: StepForm {
    package let rect: PixelRect

    package var name: String { "crop" }

    package var key: String {
        "SDImageCroppingTransformer({\(sixDecimals(rect.x)),\(sixDecimals(rect.y)),"
            + "\(sixDecimals(rect.size.width)),\(sixDecimals(rect.size.height))})"
    }

    package var demand: StepDemand { .everything }

    package var takesDepth: Bool { true }

    package func size(after source: PixelSize) -> PixelSize? {
        rect.intersection(with: source)?.size
    }

    package func nominalSize(after source: PixelSize?) -> PixelSize? {
        source.map { size(after: $0) ?? $0 } ?? rect.size
    }

    package func scaled(by ratio: Double) -> TransformStep? {
        .crop(
            PixelRect(
                x: Model.scaled(rect.x, by: ratio), y: Model.scaled(rect.y, by: ratio),
                size: rect.size.scaled(by: ratio)))
    }

    package func check(pixelsMax: Int) throws(ImageError) { try rect.size.checkAsBox(of: name) }

    static let syntax = StepSyntax(
        "crop", value: "X,Y,W,H",
        expected: "LEFT,TOP,WIDTH,HEIGHT in pixels, such as 10,20,300,200, "
            + "at most \(RequestLimits.sideMax) each"
    ) { PixelRect($0).map { .crop($0) } }
}

/// Crops to a size around the most important part of the image.
package struct CropToStep: ValuedStep {
    package var extent: RelativeSize
    package var gravity: Gravity

    package var key: String { "ImagebusCropToTransformer({\(extent)},\(gravity))" }

    /// Saliency is computed on 8-bit samples.
    package var takesDepth: Bool { gravity.isPlace }

    package func size(after source: PixelSize) -> PixelSize? { extent.resolved(in: source) }

    package func nominalSize(after source: PixelSize?) -> PixelSize? {
        source.map(extent.resolved) ?? extent.pixels
    }

    package func scaled(by ratio: Double) -> TransformStep? {
        .cropTo(extent.scaled(by: ratio), gravity.scaled(by: ratio))
    }

    package static let values: [StepValue<Self>] = [.extent(\.extent), .gravity(\.gravity)]

    package static let blank = CropToStep(
        extent: RelativeSize(width: .percent(100), height: .percent(100)), gravity: .center)

    package var step: TransformStep { .cropTo(extent, gravity) }

    package static let syntax = StepSyntax(
        "crop-to", value: "WxH[,GRAVITY]",
        expected: "WIDTHxHEIGHT[,GRAVITY], sides of 1 to \(RequestLimits.sideMax) pixels or up to "
            + "100%, such as 300x200,northeast or 50%x100%,fp:0.3:0.7; GRAVITY is one of "
            + Gravity.expected, parse)
}

/// Crops to the largest part of an aspect ratio, around the most important part of the image.
package struct CropRatioStep: ValuedStep {
    package var ratio: AspectRatio
    package var gravity: Gravity

    package var key: String { "ImagebusCropRatioTransformer(\(ratio),\(gravity))" }

    /// Saliency is computed on 8-bit samples.
    package var takesDepth: Bool { gravity.isPlace }

    package func size(after source: PixelSize) -> PixelSize? {
        ratio.isPermitted ? ratio.largest(in: source) : nil
    }

    package func scaled(by factor: Double) -> TransformStep? {
        .cropRatio(ratio, gravity.scaled(by: factor))
    }

    package static let values: [StepValue<Self>] = [.ratio(\.ratio), .gravity(\.gravity)]

    package static let blank = CropRatioStep(
        ratio: AspectRatio(width: 1, height: 1), gravity: .center)

    package var step: TransformStep { .cropRatio(ratio, gravity) }

    package static let syntax = StepSyntax(
        "crop-ratio", value: "W:H[,GRAVITY]",
        expected: "WIDTH:HEIGHT[,GRAVITY], a ratio of integers such as 16:9,north; GRAVITY is "
            + "one of " + Gravity.expected, parse)
}

/// Trims edges of uniform color.
package struct TrimStep: ValuedStep {
    package var tolerance: Double
    /// The color to trim; `nil` for that of the top left corner.
    package var color: Color?
    /// The opposite edges that are trimmed equally; `nil` for none.
    package var equal: EqualMargins?

    package var key: String {
        let words = [color?.hexText, equal?.rawValue].compactMap { $0.map { ",\($0)" } }
        return "ImagebusTrimTransformer(\(decimalText(tolerance))\(words.joined()))"
    }

    package var looksForItsSize: Bool { true }

    package static let values: [StepValue<Self>] = [
        .number("tolerance", \.tolerance, in: 0...255, isOptional: true),
        .maybeColor(\.color), .equalMargins(\.equal),
    ]

    package static let blank = TrimStep(tolerance: 10, color: nil, equal: nil)

    package var step: TransformStep { .trim(tolerance: tolerance, color, equal: equal) }

    package static let syntax = StepSyntax(
        "trim", value: "[TOLERANCE][,COLOR][,EQUAL]",
        expected: "[TOLERANCE][,COLOR][,EQUAL], a tolerance from 0 to 255 (10), a color and the "
            + "edges to trim equally, \(EqualMargins.expected), such as 10,#FFFFFF", parse)
}

/// The opposite edges from which `trim` removes equally much: the smaller of what it can remove.
public enum EqualMargins: String, Hashable, Sendable, CaseIterable {
    /// Left and right.
    case horizontal
    /// Top and bottom.
    case vertical
    /// Left and right, and top and bottom.
    case both

    /// The syntax, for errors.
    static let expected = "one of " + allCases.map(\.rawValue).joined(separator: ", ")
}

/// Pads the image to a canvas size.
package struct PadStep: ValuedStep {
    package var size: PixelSize
    package var gravity: Gravity
    package var color: Color

    package var key: String {
        "ImagebusPadTransformer({\(sixDecimals(size.width)),\(sixDecimals(size.height))},"
            + "\(gravity),\(color.hexText))"
    }

    /// Fill colors are sRGB.
    package var takesDepth: Bool { color == .clear }

    package func size(after source: PixelSize) -> PixelSize? {
        PixelSize(width: max(source.width, size.width), height: max(source.height, size.height))
    }

    package func nominalSize(after source: PixelSize?) -> PixelSize? {
        source.map { size(after: $0) ?? $0 } ?? size
    }

    package func scaled(by ratio: Double) -> TransformStep? {
        .pad(size.scaled(by: ratio), gravity.scaled(by: ratio), color)
    }

    package func checkMore(pixelsMax: Int) throws(ImageError) {
        try size.checkAsBox(of: name)
        let limit = min(RequestLimits.pixelsMax, pixelsMax)
        guard let area = size.area, area <= limit else {
            throw .tooLarge(name, limit: limit, "pixels")
        }
        guard gravity.isPlace else { throw Self.noPlace(of: name) }
    }

    /// The error for a gravity that would depend on the pixels.
    static func noPlace(of step: String) -> ImageError {
        ImageError(
            .invalidRequest,
            "\(step): the gravity must be a position; only crop-to supports attention and entropy"
        ) { $0.step = step }
    }

    package static let values: [StepValue<Self>] = [
        .size(\.size), .gravity(\.gravity), .color(\.color),
    ]

    package static let blank = PadStep(
        size: PixelSize(width: 1, height: 1), gravity: .center, color: .clear)

    package var step: TransformStep { .pad(size, gravity, color) }

    package static let syntax = StepSyntax(
        "pad", value: "WxH[,GRAVITY][,#RRGGBB]",
        expected: "WIDTHxHEIGHT[,GRAVITY][,COLOR] with sides from 1 to \(RequestLimits.sideMax) "
            + "pixels, such as 300x200,north,#FFFFFF; GRAVITY is a position such as center, "
            + "north or fp:0.3:0.7", parse)
}

/// Pads the image to the smallest canvas of an aspect ratio.
package struct PadRatioStep: ValuedStep {
    package var ratio: AspectRatio
    package var gravity: Gravity
    package var color: Color

    package var key: String {
        "ImagebusPadRatioTransformer(\(ratio),\(gravity),\(color.hexText))"
    }

    /// Fill colors are sRGB.
    package var takesDepth: Bool { color == .clear }

    package func size(after source: PixelSize) -> PixelSize? {
        ratio.isPermitted ? ratio.smallest(around: source) : nil
    }

    package func scaled(by factor: Double) -> TransformStep? {
        .padRatio(ratio, gravity.scaled(by: factor), color)
    }

    package func checkMore(pixelsMax: Int) throws(ImageError) {
        guard gravity.isPlace else { throw PadStep.noPlace(of: name) }
    }

    package static let values: [StepValue<Self>] = [
        .ratio(\.ratio), .gravity(\.gravity), .color(\.color),
    ]

    package static let blank = PadRatioStep(
        ratio: AspectRatio(width: 1, height: 1), gravity: .center, color: .clear)

    package var step: TransformStep { .padRatio(ratio, gravity, color) }

    package static let syntax = StepSyntax(
        "pad-ratio", value: "W:H[,GRAVITY][,#RRGGBB]",
        expected: "WIDTH:HEIGHT[,GRAVITY][,COLOR], a ratio of integers such as "
            + "16:9,north,#FFFFFF; GRAVITY is center, north or another position, or fp:X:Y", parse)
}

/// Adds margins around the image.
package struct ExtendStep: ValuedStep {
    package var margins: Margins
    package var fill: MarginFill

    package var key: String {
        let sides = [margins.left, margins.top, margins.right, margins.bottom]
        return "ImagebusExtendTransformer({"
            + sides.map { sixDecimals($0) }.joined(separator: ",") + "},\(fill))"
    }

    /// Fill colors are sRGB.
    package var takesDepth: Bool {
        if case .color(let color) = fill { color == .clear } else { true }
    }

    package func size(after source: PixelSize) -> PixelSize? { margins.size(around: source) }

    package func nominalSize(after source: PixelSize?) -> PixelSize? {
        source.flatMap { margins.size(around: $0) }
    }

    package func scaled(by ratio: Double) -> TransformStep? {
        func side(_ side: Int) -> Int { Model.scaled(side, by: ratio) }
        return .extend(
            Margins(
                left: side(margins.left), top: side(margins.top), right: side(margins.right),
                bottom: side(margins.bottom)), fill)
    }

    package static let values: [StepValue<Self>] = [
        .count("left", \.margins.left, in: Margins.sides),
        .count("top", \.margins.top, in: Margins.sides),
        .count("right", \.margins.right, in: Margins.sides),
        .count("bottom", \.margins.bottom, in: Margins.sides), .fill(\.fill),
    ]

    package static let blank = ExtendStep(margins: Margins(), fill: .color(.clear))

    package var step: TransformStep { .extend(margins, fill) }

    package static let syntax = StepSyntax(
        "extend", value: "L,T,R,B[,FILL]",
        expected: "LEFT,TOP,RIGHT,BOTTOM[,FILL], each from 0 to \(RequestLimits.sideMax) pixels, "
            + "such as 10,20,10,20,mirror; FILL is " + MarginFill.expected, parse)
}

/// The width of the margin at each edge of an image in pixels, 0 to `RequestLimits.sideMax`.
public struct Margins: Hashable, Sendable {
    /// The width at each edge.
    public var left, top, right, bottom: Int

    /// Creates margins.
    public init(left: Int = 0, top: Int = 0, right: Int = 0, bottom: Int = 0) {
        (self.left, self.top, self.right, self.bottom) = (left, top, right, bottom)
    }

    /// Returns the size of an image with the margins, whose sides are below 2³¹; `nil` if a margin
    /// is out of range.
    package func size(around size: PixelSize) -> PixelSize? {
        guard [left, top, right, bottom].allSatisfy(Self.sides.contains) else { return nil }
        return PixelSize(width: left + size.width + right, height: top + size.height + bottom)
    }

    static let sides = 0...RequestLimits.sideMax
}

/// The content of margins.
public enum MarginFill: Hashable, Sendable {
    /// A uniform color.
    case color(Color)
    /// The edge pixels, replicated.
    case copy
    /// The image, tiled.
    case `repeat`
    /// The image, tiled and mirrored at each edge.
    case mirror

    /// The names of the fills other than a color.
    private static let words: [(name: String, fill: MarginFill)] = [
        ("copy", .copy), ("repeat", .repeat), ("mirror", .mirror),
    ]

    /// The syntax, for errors.
    static let expected =
        "#RRGGBB, #AARRGGBB or one of " + words.map(\.name).joined(separator: ", ")
}

extension MarginFill: CustomStringConvertible {
    /// Parses a name or a color; returns `nil` for other texts.
    init?(_ text: String) {
        if let word = Self.words.first(where: { $0.name == text }) {
            self = word.fill
        } else {
            guard let color = Color(text) else { return nil }
            self = .color(color)
        }
    }

    /// The text that `init` accepts.
    public var description: String {
        if case .color(let color) = self { return color.hexText }
        return Self.words.first { $0.fill == self }?.name ?? ""
    }
}
