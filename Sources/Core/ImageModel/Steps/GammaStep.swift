/// Lighter or darker in the middle tones.
package struct GammaStep: NumberStep {
    package var number: Double

    package static let traits = NumberTraits<Double>(
        key: "ImagebusGammaTransformer", "exponent", in: 0.1...10)

    package init(_ number: Double) { self.number = number }

    package var step: TransformStep { .gamma(number) }

    package static let syntax = StepSyntax(
        "gamma", value: "EXPONENT",
        "lighter middle tones above 1, darker below, 0.1 to 10 (repeatable)",
        expected: "a number from 0.1 to 10, such as 2.2", parse)
}
