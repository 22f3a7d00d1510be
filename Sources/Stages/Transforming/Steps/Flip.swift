import ImageModel
import Vips

/// Exchanges left and right, top and bottom, or both.
struct Flip: ImageStep {
    let horizontal: Bool
    let vertical: Bool

    var name: String { "flip" }

    func size(after source: PixelSize) throws(ImageError) -> PixelSize { source }

    func apply(to current: StepImage) throws -> StepImage {
        // Rows come from the last to the first: they must be there already.
        let current = vertical ? try current.computed() : current
        let header = current.image.header
        var active = current.active
        var image = current.image
        if horizontal {
            image = try image.flippedHorizontally()
            active.left = Double(header.width) - active.left - active.width
        }
        if vertical {
            image = try image.flippedVertically()
            active.top = Double(header.height) - active.top - active.height
        }
        return StepImage(
            image, size: current.size, active: active, isOpaque: current.isOpaque,
            sampler: current.sampler)
    }

    func fold(into plan: inout PlanarPlan) -> Bool {
        plan.flip(horizontally: horizontal, vertically: vertical)
        return true
    }
}

extension FlipStep: PixelStep {
    var imageSteps: [any ImageStep] { [Flip(horizontal: horizontal, vertical: vertical)] }
}
