/// Darker edges.
package struct VignetteStep: ValuedStep {
    package var amount: Double

    package var key: String { "ImagebusVignetteTransformer(\(decimalText(amount)))" }

    package var demand: StepDemand { .everything }

    package static let values: [StepValue<Self>] = [
        .number("amount", \.amount, in: 0...100)
    ]

    package static let blank = VignetteStep(amount: 1)

    package var step: TransformStep { .vignette(amount) }

    package static let syntax = StepSyntax(
        "vignette", value: "AMOUNT",
        "darken the corners by hundredths, up to 100 (repeatable)",
        expected: "hundredths from 0 to 100, such as 50", parse)
}
