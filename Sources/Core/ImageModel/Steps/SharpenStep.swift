/// An unsharp mask.
package struct SharpenStep: ValuedStep {
    package var radius: Double

    package var key: String { "ImagebusSharpenTransformer(\(decimalText(radius)))" }

    package var demand: StepDemand { .everything }

    package static let values: [StepValue<Self>] = [
        .number("radius", \.radius, in: 0.1...10)
    ]

    package static let blank = SharpenStep(radius: 1)

    package var step: TransformStep { .sharpen(radius: radius) }

    package static let syntax = StepSyntax(
        "sharpen", value: "RADIUS",
        "stress edges of a radius of 0.1 to 10 pixels (repeatable)",
        expected: "a radius from 0.1 to 10, such as 1", parse)
}
