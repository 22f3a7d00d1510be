/// The brown of old photographs.
package struct SepiaStep: ValuedStep {
    package var key: String { "ImagebusSepiaTransformer()" }

    package var demand: StepDemand { .everything }

    package static let blank = SepiaStep()

    package var step: TransformStep { .sepia }

    package static let syntax = StepSyntax(
        "sepia", "make it brown, as old photographs are (repeatable)", .sepia)
}
