/// Round corners, and a line along the edge.
package struct RoundStep: ValuedStep {
    package var radius: Double
    package var corners: Corners
    package var border: Double
    package var colour: Colour?

    package var key: String {
        "SDImageRoundCornerTransformer(\(decimalText(radius)),\(corners.keyText),"
            + "\(decimalText(border)),\(colour?.hexText ?? "(null)"))"
    }

    package var demand: StepDemand { .everything }

    /// A border that meets itself in the middle leaves nothing of the image, as upstream.
    package func size(after source: PixelSize) -> PixelSize? {
        2 * border < Double(min(source.width, source.height)) ? source : nil
    }

    package func scaled(by ratio: Double) -> TransformStep? {
        .round(radius: radius * ratio, corners, border: border * ratio, colour)
    }

    package static let values: [StepValue<Self>] = [
        .number("radius", \.radius, in: lengths), .corners(\.corners),
        .number("border", \.border, in: lengths, isOptional: true), .maybeColour(\.colour),
    ]

    private static let lengths = 0...Double(RequestLimits.sideMax)

    package static let blank = RoundStep(radius: 0, corners: .all, border: 0, colour: nil)

    package var step: TransformStep { .round(radius: radius, corners, border: border, colour) }

    package static let syntax = StepSyntax(
        "round", value: "R[,CORNERS][,BORDER,#RRGGBB]",
        "round corners of a radius in pixels; CORNERS: all, or of tl, tr,\n"
            + "bl and br, such as tl+tr; BORDER: a line of so many pixels\n"
            + "(#AARRGGBB as well; repeatable)",
        expected: "RADIUS[,CORNERS][,BORDER,COLOUR] in pixels up to \(RequestLimits.sideMax), such "
            + "as 20 or 20,tl+tr,2,#FF0000; CORNERS is \(Corners.expected)", parse)
}
