/// A Gaussian blur. A radius below 2 is 2, and 0 leaves the image, as upstream.
package struct BlurStep: NumberStep {
    package var number: Double

    package static let traits = NumberTraits<Double>(
        key: "SDImageBlurTransformer", "radius", in: 0...100)

    package init(_ number: Double) { self.number = number }

    package var step: TransformStep { .blur(radius: number) }

    package func scaled(by ratio: Double) -> TransformStep? { .blur(radius: number * ratio) }

    package static let syntax = StepSyntax(
        "blur", value: "RADIUS",
        "blur by a radius of up to 100 pixels (repeatable)",
        expected: "a radius from 0 to 100, such as 5", parse)
}
