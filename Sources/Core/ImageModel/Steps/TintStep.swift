/// A colour all over.
package struct TintStep: ValuedStep {
    package var colour: Colour
    package var mode: BlendMode

    package var key: String { "SDImageTintTransformer(\(colour.hexText),\(mode.rawValue))" }

    package var demand: StepDemand { .everything }

    package static let values: [StepValue<Self>] = [
        .colour(\.colour, isOptional: false), .mode(\.mode),
    ]

    package static let blank = TintStep(colour: .clear, mode: .sourceIn)

    package var step: TransformStep { .tint(colour, mode) }

    package static let syntax = StepSyntax(
        "tint", value: "#AARRGGBB[,MODE]",
        "lay a colour over it; MODE: source-in (its shape in one colour; the\n"
            + "default), multiply, screen, overlay, color … (repeatable)",
        expected: "COLOUR[,MODE], such as #80FF0000,multiply; MODE is one of \(BlendMode.expected)",
        parse)
}
