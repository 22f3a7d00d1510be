import ImageModel
import Vips

/// Scales to a box: inside it, around it, or to just its size (SEMANTICS §11.8). The margins of a
/// letterbox are a step of their own (`Pad`); `Fill` scales and cuts at once.
struct Scale: ImageStep {
    let step: ResizeStep

    var name: String { step.name }

    func size(after source: PixelSize) throws(ImageError) -> PixelSize {
        guard step.size(after: source) != nil else {
            throw .step(name, "a box of \(step.box) has no pixels")
        }
        return target(for: source)
    }

    func apply(to current: StepImage) throws -> StepImage {
        try current.resampled(to: target(for: current.size))
    }

    func fold(into plan: inout PlanarPlan) -> Bool { plan.scale(to: target(for: plan.size)) }

    private func target(for source: PixelSize) -> PixelSize {
        step.geometry(of: source).scaled
    }
}

extension ResizeStep: PixelStep {
    var imageSteps: [any ImageStep] {
        switch mode {
        case .fill where box.isPositive: [Fill(step: self)]
        case .letterbox where box.isPositive:
            [Scale(step: self), Pad { [box] in box.atLeast($0) }]
        default: [Scale(step: self)]
        }
    }
}
