/// Squares of one colour each.
package struct PixelateStep: ValuedStep {
    package var side: Int

    package var key: String { "ImagebusPixelateTransformer(\(sixDecimals(side)))" }

    package var demand: StepDemand { .everything }

    package static let values: [StepValue<Self>] = [
        .count("side", \.side, in: 2...1000)
    ]

    package static let blank = PixelateStep(side: 2)

    package var step: TransformStep { .pixelate(side) }

    package static let syntax = StepSyntax(
        "pixelate", value: "SIDE",
        "squares of one colour, of a side of 2 to 1000 pixels (repeatable)",
        expected: "a side from 2 to 1000, such as 10", parse)
}
