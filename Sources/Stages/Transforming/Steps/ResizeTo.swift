import ImageModel
import Vips

/// Scales to a box that may be a part of the image, and cuts what a fill has too much.
struct ResizeTo: ImageStep {
    let step: ResizeToStep

    var name: String { step.name }

    func size(after source: PixelSize) throws(ImageError) -> PixelSize {
        guard let geometry = step.geometry(of: source) else {
            throw .step(name, "a box of \(step.box) has no pixels, or too many")
        }
        let isKnown = step.part(geometry.output, of: geometry.scaled, source: source) != nil
        return isKnown ? geometry.output : geometry.scaled
    }

    func apply(to current: StepImage) throws -> StepImage {
        guard let geometry = step.geometry(of: current.size) else { return current }
        let part = step.part(geometry.output, of: geometry.scaled, source: current.size)
        guard let part else {
            return try current.resampled(to: geometry.scaled)
                .cut(geometry.output, by: step.gravity)
        }
        return try current.resampled(to: geometry.scaled, keeping: part)
    }

    func fold(into plan: inout PlanarPlan) -> Bool {
        guard let geometry = step.geometry(of: plan.size),
            let part = step.part(geometry.output, of: geometry.scaled, source: plan.size),
            plan.scale(to: geometry.scaled)
        else { return false }
        plan.crop(part)
        return true
    }
}

extension ResizeToStep: PixelStep {
    var imageSteps: [any ImageStep] { [ResizeTo(step: self)] }
}
