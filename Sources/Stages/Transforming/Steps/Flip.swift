import ImageModel
import Vips

/// Exchanges left and right, top and bottom, or both.
struct Flip: PictureStep {
    let horizontal: Bool
    let vertical: Bool

    var name: String { "flip" }

    func size(after source: PixelSize) throws(ImageError) -> PixelSize { source }

    func apply(to picture: Picture) throws -> Picture {
        // Rows come from the last to the first: they must be there already.
        let picture = vertical ? try picture.computed() : picture
        let header = picture.image.header
        var active = picture.active
        var image = picture.image
        if horizontal {
            image = try image.flippedHorizontally()
            active.left = Double(header.width) - active.left - active.width
        }
        if vertical {
            image = try image.flippedVertically()
            active.top = Double(header.height) - active.top - active.height
        }
        return Picture(
            image, size: picture.size, active: active, isOpaque: picture.isOpaque,
            sampler: picture.sampler)
    }

    func fold(into plan: inout PlanarPlan) -> Bool {
        plan.flip(horizontally: horizontal, vertically: vertical)
        return true
    }
}

extension FlipStep: PixelStep {
    var pictureSteps: [any PictureStep] { [Flip(horizontal: horizontal, vertical: vertical)] }
}
