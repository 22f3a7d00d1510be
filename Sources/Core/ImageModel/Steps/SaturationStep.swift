/// Stronger or weaker colours.
package struct SaturationStep: ValuedStep {
    package var amount: Double

    package var key: String { "ImagebusSaturationTransformer(\(decimalText(amount)))" }

    package var demand: StepDemand { .everything }

    package static let values: [StepValue<Self>] = [
        .number("amount", \.amount, in: -100...100)
    ]

    package static let blank = SaturationStep(amount: 1)

    package var step: TransformStep { .saturation(amount) }

    package static let syntax = StepSyntax(
        "saturation", value: "AMOUNT",
        "stronger or weaker colours, -100 (grey) to 100 (repeatable)",
        expected: "hundredths from -100 to 100, such as 20", parse)
}
