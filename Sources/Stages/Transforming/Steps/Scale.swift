import ImageModel
import Vips

/// Scales to a box: inside it, around it, or to just its size. What a mode cuts off or adds besides
/// is a step of its own (SEMANTICS §11.8).
struct Scale: PictureStep {
    let box: PixelSize
    let mode: ResizeMode

    var name: String { "resize" }

    func size(after source: PixelSize) throws(ImageError) -> PixelSize {
        guard box.isPositive else { throw .step(name, "a box of \(box) has no pixels") }
        return target(for: source)
    }

    func apply(to picture: Picture) throws -> Picture {
        try picture.resampled(to: target(for: picture.size))
    }

    func fold(into plan: inout PlanarPlan) -> Bool { plan.scale(to: target(for: plan.size)) }

    private func target(for source: PixelSize) -> PixelSize {
        ResizeGeometry(source: source, box: box, mode: mode).scaled
    }
}

extension ResizeStep: PixelStep {
    var pictureSteps: [any PictureStep] {
        let scale = Scale(box: box, mode: mode)
        switch mode {
        case .fit, .stretch: return [scale]
        case .fill: return [scale, CutCentred(target: box)]
        case .letterbox: return [scale, PadCentred(canvas: box)]
        }
    }
}
