/// The negative. Upstream has it as a filter of Core Image.
package struct InvertStep: ValuedStep {
    package var key: String { "SDImageFilterTransformer(CIColorInvert)" }

    package var demand: StepDemand { .everything }

    package static let blank = InvertStep()

    package var step: TransformStep { .invert }

    package static let syntax = StepSyntax("invert", "make it a negative (repeatable)", .invert)
}
