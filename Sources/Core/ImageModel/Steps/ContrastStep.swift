/// More or less between dark and light.
package struct ContrastStep: ValuedStep {
    package var amount: Double

    package var key: String { "ImagebusContrastTransformer(\(decimalText(amount)))" }

    package var demand: StepDemand { .everything }

    package static let values: [StepValue<Self>] = [
        .number("amount", \.amount, in: -100...100)
    ]

    package static let blank = ContrastStep(amount: 1)

    package var step: TransformStep { .contrast(amount) }

    package static let syntax = StepSyntax(
        "contrast", value: "AMOUNT",
        "more or less contrast, -100 to 100 (repeatable)",
        expected: "hundredths from -100 to 100, such as 20", parse)
}
