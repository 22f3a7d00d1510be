import ImageModel
import Vips

/// Scales to what a limit of bytes leaves of the image as it is then.
struct ScaleDown: ImageStep {
    let step: ScaleDownStep

    var name: String { step.name }

    func size(after source: PixelSize) throws(ImageError) -> PixelSize {
        try scale(of: source).size(after: source)
    }

    func apply(to current: StepImage) throws -> StepImage {
        try scale(of: current.size).apply(to: current)
    }

    func fold(into plan: inout PlanarPlan) -> Bool { scale(of: plan.size).fold(into: &plan) }

    private func scale(of source: PixelSize) -> Scale { Scale(step: step.resize(of: source)) }
}

extension ScaleDownStep: PixelStep {
    var imageSteps: [any ImageStep] { [ScaleDown(step: self)] }
}
