/// Transparent pixels laid over a colour.
package struct FlattenStep: ValuedStep {
    package var colour: Colour

    package var key: String { "ImagebusFlattenTransformer(\(colour.hexText))" }

    package static let values: [StepValue<Self>] = [
        .colour(\.colour, isOptional: false, isOpaque: true)
    ]

    package static let blank = FlattenStep(colour: .white)

    package var step: TransformStep { .flatten(colour) }

    package static let syntax = StepSyntax(
        "flatten", value: "#RRGGBB", "lay it over a colour, without transparency (repeatable)",
        expected: "an opaque colour, such as #FFFFFF", parse)
}
