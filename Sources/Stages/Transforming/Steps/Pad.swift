import ImageModel
import Vips

/// Puts the image on a canvas, where that is larger; of an odd rest in the middle the greater half
/// is at the right and the bottom.
struct Pad: ImageStep {
    let canvas: PixelSize
    var gravity = Gravity.center
    var colour = Colour.clear
    var name = "resize"

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
        let canvas = CanvasColour(colour)
        let image = try canvas.prepared(settled.image)
        let origin = gravity.origin(of: size, on: target) ?? (0, 0)
        let padded = try image.embedded(
            left: origin.x, top: origin.y, width: target.width, height: target.height,
            background: canvas.samples(bands: image.header.bands))
        return settled.replaced(by: padded, isOpaque: settled.isOpaque && canvas.isOpaque)
    }

    /// Planes have no transparency.
    func fold(into plan: inout PlanarPlan) -> Bool {
        plan.size.width >= canvas.width && plan.size.height >= canvas.height
    }
}

extension PadStep: PixelStep {
    var imageSteps: [any ImageStep] {
        [Pad(canvas: size, gravity: gravity, colour: colour, name: name)]
    }
}
