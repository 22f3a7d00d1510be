/// Squares of one colour each.
package struct PixelateStep: NumberStep {
    package var number: Int

    package static let traits = NumberTraits<Int>(
        key: "ImagebusPixelateTransformer", "side", in: 2...1000)

    package init(_ number: Int) { self.number = number }

    package var step: TransformStep { .pixelate(number) }

    package func scaled(by ratio: Double) -> TransformStep? {
        .pixelate(ImageModel.scaled(number, by: ratio))
    }

    package static let syntax = StepSyntax(
        "pixelate", value: "SIDE",
        "squares of one colour, of a side of 2 to 1000 pixels (repeatable)",
        expected: "a side from 2 to 1000, such as 10", parse)
}
