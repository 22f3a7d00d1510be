/// A Gaussian blur. A radius below 2 is 2, and 0 leaves the image, as upstream.
package struct BlurStep: ValuedStep {
    package var radius: Double

    package var key: String { "SDImageBlurTransformer(\(decimalText(radius)))" }

    package var demand: StepDemand { .everything }

    package static let values: [StepValue<Self>] = [
        .number("radius", \.radius, in: 0...100)
    ]

    package static let blank = BlurStep(radius: 1)

    package var step: TransformStep { .blur(radius: radius) }

    package static let syntax = StepSyntax(
        "blur", value: "RADIUS",
        "blur by a radius of up to 100 pixels (repeatable)",
        expected: "a radius from 0 to 100, such as 5", parse)
}
