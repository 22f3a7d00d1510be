import ImageModel
import Vips

/// Cuts a rectangle out; the part of it that lies outside the image is left out.
struct Crop: ImageStep {
    let rect: PixelRect

    var name: String { "crop" }

    func size(after source: PixelSize) throws(ImageError) -> PixelSize {
        guard let part = rect.intersection(with: source) else {
            throw .step(name, "nothing of the image of \(source) lies in the rectangle")
        }
        return part.size
    }

    func apply(to current: StepImage) throws -> StepImage {
        let settled = try current.settled()
        guard let part = rect.intersection(with: settled.size) else { return settled }
        return try settled.cut(part)
    }

    func fold(into plan: inout PlanarPlan) -> Bool {
        if let part = rect.intersection(with: plan.size) { plan.crop(part) }
        return true
    }
}

extension CropStep: PixelStep {
    var imageSteps: [any ImageStep] { [Crop(rect: rect)] }
}
