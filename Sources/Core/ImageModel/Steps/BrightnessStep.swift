/// Lighter or darker.
package struct BrightnessStep: NumberStep {
    package var number: Double

    package static let traits = NumberTraits<Double>(
        key: "ImagebusBrightnessTransformer", "amount", in: -100...100)

    package init(_ number: Double) { self.number = number }

    package var step: TransformStep { .brightness(number) }

    package static let syntax = StepSyntax(
        "brightness", value: "AMOUNT",
        "lighter or darker by hundredths, -100 to 100 (repeatable)",
        expected: "hundredths from -100 to 100, such as 20", parse)
}
