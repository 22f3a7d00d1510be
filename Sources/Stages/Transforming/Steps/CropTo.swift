import ImageModel
import Vips

/// Cuts a part of a size out, where the image counts most.
struct CropTo: ImageStep {
    let target: RelativeSize
    let gravity: Gravity

    var name: String { "crop-to" }

    func size(after source: PixelSize) throws(ImageError) -> PixelSize {
        target.resolved(in: source)
    }

    func apply(to current: StepImage) throws -> StepImage {
        let settled = try current.settled()
        let size = target.resolved(in: settled.size)
        guard size != settled.size else { return settled }
        if let part = gravity.part(size, of: settled.size) { return try settled.cut(part) }
        let computed = try settled.computed()
        return computed.replaced(
            by: try computed.image.smartCropped(
                width: size.width, height: size.height, byEntropy: gravity == .entropy))
    }

    func fold(into plan: inout PlanarPlan) -> Bool {
        guard let part = gravity.part(target.resolved(in: plan.size), of: plan.size) else {
            return false
        }
        plan.crop(part)
        return true
    }
}

extension CropToStep: PixelStep {
    var imageSteps: [any ImageStep] { [CropTo(target: extent, gravity: gravity)] }
}
