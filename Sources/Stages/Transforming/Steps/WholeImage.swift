import ImageModel
import Vips

/// A step that leaves the size and sees every pixel of the image, in memory.
struct WholeImage: ImageStep {
    let name: String
    let change: (VipsImage) throws -> VipsImage

    func size(after source: PixelSize) throws(ImageError) -> PixelSize { source }

    func apply(to current: StepImage) throws -> StepImage {
        let settled = try current.settled().computed()
        return settled.replaced(by: try change(settled.image))
    }

    /// Planes are not looked at.
    func fold(into plan: inout PlanarPlan) -> Bool { false }
}

extension VipsImage {
    /// Three colours, of grey as well; an alpha band stays.
    func coloured() throws(VipsError) -> VipsImage {
        try header.bands < 3 ? convertedToSRGB(isDeep: header.bytesPerBand == 2) : self
    }
}

extension BlurStep: PixelStep {
    var imageSteps: [any ImageStep] {
        guard number > 0 else { return [] }
        return [WholeImage(name: name) { try $0.blurred(sigma: max(2, number)) }]
    }
}

extension SharpenStep: PixelStep {
    var imageSteps: [any ImageStep] {
        [WholeImage(name: name) { try $0.sharpened(sigma: number) }]
    }
}

extension PixelateStep: PixelStep {
    var imageSteps: [any ImageStep] { [WholeImage(name: name) { try $0.pixelated(side: number) }] }
}
