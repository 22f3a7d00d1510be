/// Margins around the image.
package struct ExtendStep: ValuedStep {
    package var margins: Margins
    package var fill: MarginFill

    package var key: String {
        let sides = [margins.left, margins.top, margins.right, margins.bottom]
        return "ImagebusExtendTransformer({"
            + sides.map { sixDecimals($0) }.joined(separator: ",") + "},\(fill))"
    }

    package var demand: StepDemand { .everything }

    /// Colours are of sRGB.
    package var takesDepth: Bool {
        if case .colour(let colour) = fill { colour == .clear } else { true }
    }

    package func size(after source: PixelSize) -> PixelSize? { margins.size(around: source) }

    package func nominalSize(after source: PixelSize?) -> PixelSize? {
        source.flatMap { margins.size(around: $0) }
    }

    package func scaled(by ratio: Double) -> TransformStep? {
        func side(_ side: Int) -> Int { ImageModel.scaled(side, by: ratio) }
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

    package static let blank = ExtendStep(margins: Margins(), fill: .colour(.clear))

    package var step: TransformStep { .extend(margins, fill) }

    package static let syntax = StepSyntax(
        "extend", value: "L,T,R,B[,FILL]",
        "add so many pixels at each edge: transparent, or FILL: a colour\n"
            + "(#RRGGBB), copy (of the edge), repeat or mirror (repeatable)",
        expected: "LEFT,TOP,RIGHT,BOTTOM[,FILL], each from 0 to \(RequestLimits.sideMax) pixels, "
            + "such as 10,20,10,20,mirror; FILL is " + MarginFill.expected, parse)
}
