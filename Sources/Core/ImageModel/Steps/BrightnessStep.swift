/// Lighter or darker.
package struct BrightnessStep: ValuedStep {
    package var amount: Double

    package var key: String { "ImagebusBrightnessTransformer(\(decimalText(amount)))" }

    package var demand: StepDemand { .everything }

    package static let values: [StepValue<Self>] = [
        .number("amount", \.amount, in: -100...100)
    ]

    package static let blank = BrightnessStep(amount: 1)

    package var step: TransformStep { .brightness(amount) }

    package static let syntax = StepSyntax(
        "brightness", value: "AMOUNT",
        "lighter or darker by hundredths, -100 to 100 (repeatable)",
        expected: "hundredths from -100 to 100, such as 20", parse)
}
