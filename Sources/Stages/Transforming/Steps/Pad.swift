import ImageModel
import Vips

/// Puts the image on a canvas, where that is larger; of an odd rest in the middle the greater half
/// is at the right and the bottom.
struct Pad: ImageStep {
    var gravity = Gravity.center
    var colour = Colour.clear
    var name = "resize"
    /// The canvas of an image, which has no side shorter than it.
    let canvas: @Sendable (PixelSize) -> PixelSize

    func size(after source: PixelSize) throws(ImageError) -> PixelSize { canvas(source) }

    func apply(to current: StepImage) throws -> StepImage {
        let settled = try current.settled()
        let size = settled.size
        let target = canvas(size)
        guard target != size else { return settled }
        let canvas = CanvasColour(colour)
        let image = try canvas.prepared(settled.image)
        let place = gravity.origin(of: size, on: target) ?? (0, 0)
        let origin = (
            x: min(max(0, place.x), target.width - size.width),
            y: min(max(0, place.y), target.height - size.height)
        )
        let padded = try image.embedded(
            left: origin.x, top: origin.y, width: target.width, height: target.height,
            background: canvas.samples(bands: image.header.bands))
        return settled.replaced(by: padded, isOpaque: settled.isOpaque && canvas.isOpaque)
    }

    /// Planes have no transparency.
    func fold(into plan: inout PlanarPlan) -> Bool {
        canvas(plan.size) == plan.size
    }
}

extension PixelSize {
    /// A canvas at least as large as this and as the image.
    func atLeast(_ image: PixelSize) -> PixelSize {
        PixelSize(width: max(image.width, width), height: max(image.height, height))
    }
}

extension PadStep: PixelStep {
    var imageSteps: [any ImageStep] {
        [Pad(gravity: gravity, colour: colour, name: name) { [size] in size.atLeast($0) }]
    }
}

extension PadRatioStep: PixelStep {
    var imageSteps: [any ImageStep] {
        [
            Pad(gravity: gravity, colour: colour, name: name) { [ratio] in
                ratio.smallest(around: $0)
            }
        ]
    }
}
