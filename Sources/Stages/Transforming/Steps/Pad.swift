import ImageModel
import Vips

/// Puts the image in the middle of a transparent canvas, where that is larger; of an odd rest the
/// greater half is at the right and the bottom.
struct Pad: ImageStep {
    let canvas: PixelSize

    var name: String { "resize" }

    func size(after source: PixelSize) throws(ImageError) -> PixelSize {
        PixelSize(
            width: max(source.width, canvas.width), height: max(source.height, canvas.height))
    }

    func apply(to current: StepImage) throws -> StepImage {
        let settled = try current.settled()
        let size = settled.size
        let target = PixelSize(
            width: max(size.width, canvas.width), height: max(size.height, canvas.height))
        guard target != size else { return settled }
        let image = try settled.image.header.hasAlpha ? settled.image : settled.image.withAlpha()
        let padded = try image.embedded(
            left: (target.width - size.width) / 2, top: (target.height - size.height) / 2,
            width: target.width, height: target.height,
            background: [Double](repeating: 0, count: image.header.bands))
        return settled.replaced(by: padded, isOpaque: false)
    }

    /// Planes have no transparency.
    func fold(into plan: inout PlanarPlan) -> Bool { plan.size == canvas }
}
