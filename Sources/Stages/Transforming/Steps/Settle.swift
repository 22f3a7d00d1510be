import ImageModel
import Vips

/// The last step: what the decoder made smaller and no resize used becomes as large as it counts.
struct Settle: PictureStep {
    var name: String { "settle" }

    func size(after source: PixelSize) throws(ImageError) -> PixelSize { source }

    func apply(to picture: Picture) throws -> Picture { try picture.settled() }

    /// A plan always says how large the picture becomes.
    func fold(into plan: inout PlanarPlan) -> Bool { true }
}
