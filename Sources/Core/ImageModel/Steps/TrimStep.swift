/// What has the colour of the top left corner, cut off from each edge.
package struct TrimStep: ValuedStep {
    package var tolerance: Double

    package var key: String { "ImagebusTrimTransformer(\(decimalText(tolerance)))" }

    package var demand: StepDemand { .everything }

    package var looksForItsSize: Bool { true }

    package static let values: [StepValue<Self>] = [
        .number("tolerance", \.tolerance, in: 0...255, isOptional: true)
    ]

    package static let blank = TrimStep(tolerance: 10)

    package var step: TransformStep { .trim(tolerance: tolerance) }

    package static let syntax = StepSyntax(
        "trim", value: "TOLERANCE",
        "cut off edges of the colour of the top left corner, from which samples\n"
            + "differ by 0 to 255 at most, such as 10 (repeatable)",
        expected: "a tolerance from 0 to 255, such as 10", parse)
}
