/// Lighter or darker in the middle tones.
package struct GammaStep: ValuedStep {
    package var exponent: Double

    package var key: String { "ImagebusGammaTransformer(\(decimalText(exponent)))" }

    package var demand: StepDemand { .everything }

    package static let values: [StepValue<Self>] = [
        .number("exponent", \.exponent, in: 0.1...10)
    ]

    package static let blank = GammaStep(exponent: 1)

    package var step: TransformStep { .gamma(exponent) }

    package static let syntax = StepSyntax(
        "gamma", value: "EXPONENT",
        "lighter middle tones above 1, darker below, 0.1 to 10 (repeatable)",
        expected: "a number from 0.1 to 10, such as 2.2", parse)
}
