/// What has one colour, cut off from each edge.
package struct TrimStep: ValuedStep {
    package var tolerance: Double
    /// `nil`: that of the top left corner.
    package var colour: Colour?

    package var key: String {
        let colour = colour.map { ",\($0.hexText)" } ?? ""
        return "ImagebusTrimTransformer(\(decimalText(tolerance))\(colour))"
    }

    package var demand: StepDemand { .everything }

    package var looksForItsSize: Bool { true }

    package static let values: [StepValue<Self>] = [
        .number("tolerance", \.tolerance, in: 0...255, isOptional: true),
        .maybeColour(\.colour),
    ]

    package static let blank = TrimStep(tolerance: 10, colour: nil)

    package var step: TransformStep { .trim(tolerance: tolerance, colour) }

    package static let syntax = StepSyntax(
        "trim", value: "[TOLERANCE][,COLOUR]",
        "cut off edges of a colour, #RRGGBB or #AARRGGBB (that of the top left\n"
            + "corner), from which samples differ by 0 to 255 at most, such as 10\n"
            + "(repeatable)",
        expected: "[TOLERANCE][,COLOUR], a tolerance from 0 to 255 (10) and a colour, such as "
            + "10,#FFFFFF", parse)
}
