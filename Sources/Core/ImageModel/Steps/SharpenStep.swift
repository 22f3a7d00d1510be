/// An unsharp mask.
package struct SharpenStep: NumberStep {
    package var number: Double

    package static let traits = NumberTraits<Double>(
        key: "ImagebusSharpenTransformer", "radius", in: 0.1...10)

    package init(_ number: Double) { self.number = number }

    package var step: TransformStep { .sharpen(radius: number) }

    package func scaled(by ratio: Double) -> TransformStep? { .sharpen(radius: number * ratio) }

    package static let syntax = StepSyntax(
        "sharpen", value: "RADIUS",
        "stress edges of a radius of 0.1 to 10 pixels (repeatable)",
        expected: "a radius from 0.1 to 10, such as 1", parse)
}
