/// Darker edges.
package struct VignetteStep: NumberStep {
    package var number: Double

    package static let traits = NumberTraits<Double>(
        key: "ImagebusVignetteTransformer", "amount", in: 0...100)

    package init(_ number: Double) { self.number = number }

    package var step: TransformStep { .vignette(number) }

    package static let syntax = StepSyntax(
        "vignette", value: "AMOUNT",
        "darken the corners by hundredths, up to 100 (repeatable)",
        expected: "hundredths from 0 to 100, such as 50", parse)
}
