import ImageModel
import Vips

/// The last step: what the decoder made smaller and no resize used becomes as large as it counts.
struct ApplyScale: ImageStep {
    var name: String { "settle" }

    func size(after source: PixelSize) throws(ImageError) -> PixelSize { source }

    func apply(to current: StepImage) throws -> StepImage { try current.settled() }

    /// A plan always says how large the image becomes.
    func fold(into plan: inout PlanarPlan) -> Bool { true }
}
