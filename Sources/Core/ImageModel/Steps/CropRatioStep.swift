/// The largest part of a ratio, cut out where the image counts most.
package struct CropRatioStep: ValuedStep {
    package var ratio: AspectRatio
    package var gravity: Gravity

    package var key: String { "ImagebusCropRatioTransformer(\(ratio),\(gravity))" }

    package var demand: StepDemand { .everything }

    /// What is striking is looked for in 8 bits.
    package var takesDepth: Bool { gravity.isPlace }

    package func size(after source: PixelSize) -> PixelSize? {
        ratio.isPermitted ? ratio.largest(in: source) : nil
    }

    package func nominalSize(after source: PixelSize?) -> PixelSize? {
        source.map { size(after: $0) ?? $0 }
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
        "cut out the largest part of that ratio, such as 16:9 or 1:1;\n"
            + "GRAVITY as of crop-to (repeatable)",
        expected: "WIDTH:HEIGHT[,GRAVITY], a ratio of whole numbers such as 16:9,north; GRAVITY is "
            + "one of " + Gravity.expected, parse)
}
