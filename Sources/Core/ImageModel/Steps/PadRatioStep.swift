/// The smallest canvas of a ratio around the image.
package struct PadRatioStep: ValuedStep {
    package var ratio: AspectRatio
    package var gravity: Gravity
    package var colour: Colour

    package var key: String {
        "ImagebusPadRatioTransformer(\(ratio),\(gravity),\(colour.hexText))"
    }

    package var demand: StepDemand { .everything }

    /// Colours are of sRGB.
    package var takesDepth: Bool { colour == .clear }

    package func size(after source: PixelSize) -> PixelSize? {
        ratio.isPermitted ? ratio.smallest(around: source) : nil
    }

    package func nominalSize(after source: PixelSize?) -> PixelSize? {
        source.map { size(after: $0) ?? $0 }
    }

    package func scaled(by factor: Double) -> TransformStep? {
        .padRatio(ratio, gravity.scaled(by: factor), colour)
    }

    package func checkMore(pixelsMax: Int) throws(ImageError) {
        guard gravity.isPlace else { throw PadStep.noPlace(of: name) }
    }

    package static let values: [StepValue<Self>] = [
        .ratio(\.ratio), .gravity(\.gravity), .colour(\.colour),
    ]

    package static let blank = PadRatioStep(
        ratio: AspectRatio(width: 1, height: 1), gravity: .center, colour: .clear)

    package var step: TransformStep { .padRatio(ratio, gravity, colour) }

    package static let syntax = StepSyntax(
        "pad-ratio", value: "W:H[,GRAVITY][,#RRGGBB]",
        "put it on the smallest canvas of that ratio, as pad does\n(repeatable)",
        expected: "WIDTH:HEIGHT[,GRAVITY][,COLOUR], a ratio of whole numbers such as "
            + "16:9,north,#FFFFFF; GRAVITY is a place such as center, north or fp:0.3:0.7", parse)
}
