import ImageModel
import Vips

/// Scales to a box: inside it, around it, or to just its size. What a mode cuts off or adds besides
/// is a step of its own (SEMANTICS §11.8).
struct Scale: ImageStep {
    let box: PixelSize
    let mode: ResizeMode

    var name: String { "resize" }

    func size(after source: PixelSize) throws(ImageError) -> PixelSize {
        guard box.isPositive else { throw .step(name, "a box of \(box) has no pixels") }
        return target(for: source)
    }

    func apply(to current: StepImage) throws -> StepImage {
        try current.resampled(to: target(for: current.size))
    }

    func fold(into plan: inout PlanarPlan) -> Bool { plan.scale(to: target(for: plan.size)) }

    private func target(for source: PixelSize) -> PixelSize {
        ResizeGeometry(source: source, box: box, mode: mode).scaled
    }
}

extension ResizeStep: PixelStep {
    var imageSteps: [any ImageStep] {
        let scale = Scale(box: box, mode: mode)
        switch mode {
        case .fit, .stretch: return [scale]
        case .fill: return [scale, CenterCrop(target: box)]
        case .letterbox: return [scale, Pad(canvas: box)]
        }
    }
}
