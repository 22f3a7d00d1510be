/// More or less between dark and light.
package struct ContrastStep: NumberStep {
    package var number: Double

    package static let traits = NumberTraits<Double>(
        key: "ImagebusContrastTransformer", "amount", in: -100...100)

    package init(_ number: Double) { self.number = number }

    package var step: TransformStep { .contrast(number) }

    package static let syntax = StepSyntax(
        "contrast", value: "AMOUNT",
        "more or less contrast, -100 to 100 (repeatable)",
        expected: "hundredths from -100 to 100, such as 20", parse)
}
