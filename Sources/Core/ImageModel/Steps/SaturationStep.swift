/// Stronger or weaker colours.
package struct SaturationStep: NumberStep {
    package var number: Double

    package static let traits = NumberTraits<Double>(
        key: "ImagebusSaturationTransformer", "amount", in: -100...100)

    package init(_ number: Double) { self.number = number }

    package var step: TransformStep { .saturation(number) }

    package static let syntax = StepSyntax(
        "saturation", value: "AMOUNT",
        "stronger or weaker colours, -100 (grey) to 100 (repeatable)",
        expected: "hundredths from -100 to 100, such as 20", parse)
}
