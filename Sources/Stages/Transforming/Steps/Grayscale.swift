import ImageModel
import Vips

/// Leaves brightness: the first plane of three, of pixels the same sum.
struct Grayscale: ImageStep {
    var name: String { "grayscale" }

    func size(after source: PixelSize) throws(ImageError) -> PixelSize { source }

    func apply(to current: StepImage) throws -> StepImage {
        guard current.image.header.bands > 2 else { return current }
        return current.recoloured(try current.image.mixed([ColourMatrix.light]))
    }

    func fold(into plan: inout PlanarPlan) -> Bool {
        plan.dropColours()
        return true
    }
}

extension StepImage {
    /// The same geometry in other colours.
    func recoloured(_ image: VipsImage, isOpaque: Bool? = nil) -> StepImage {
        StepImage(
            image, size: size, active: active, isOpaque: isOpaque ?? self.isOpaque,
            sampler: sampler)
    }
}

extension GrayscaleStep: PixelStep {
    var imageSteps: [any ImageStep] { [Grayscale()] }
}
