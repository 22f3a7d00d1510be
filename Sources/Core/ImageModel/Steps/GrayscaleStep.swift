/// Brightness alone.
package struct GrayscaleStep: ValuedStep {
    package var key: String { "ImagebusGrayscaleTransformer()" }

    package static let blank = GrayscaleStep()

    package var step: TransformStep { .grayscale }

    package static let syntax = StepSyntax(
        "grayscale", "take the colours out (repeatable)", .grayscale)
}
