import ImageModel
import Vips

/// Cuts a part of a size out, where the image counts most.
struct CropTo: ImageStep {
    let name: String
    let gravity: Gravity
    /// The size of the part of an image.
    let target: @Sendable (PixelSize) -> PixelSize

    func size(after source: PixelSize) throws(ImageError) -> PixelSize { target(source) }

    func apply(to current: StepImage) throws -> StepImage {
        let settled = try current.settled()
        let size = target(settled.size)
        guard let part = gravity.part(size, of: settled.size) else {
            return try settled.cut(size, by: gravity)
        }
        return try settled.cut(part)
    }

    func fold(into plan: inout PlanarPlan) -> Bool {
        guard let part = gravity.part(target(plan.size), of: plan.size) else {
            return false
        }
        plan.crop(part)
        return true
    }
}

extension StepImage {
    /// The part of that size of this settled image which its pixels say counts most.
    func cut(_ size: PixelSize, by gravity: Gravity) throws -> StepImage {
        guard size != self.size else { return self }
        let computed = try computed()
        return computed.replaced(
            by: try computed.image.smartCropped(
                width: size.width, height: size.height, byEntropy: gravity == .entropy))
    }
}

extension CropToStep: PixelStep {
    var imageSteps: [any ImageStep] {
        [CropTo(name: name, gravity: gravity) { [extent] in extent.resolved(in: $0) }]
    }
}

extension CropRatioStep: PixelStep {
    var imageSteps: [any ImageStep] {
        [CropTo(name: name, gravity: gravity) { [ratio] in ratio.largest(in: $0) }]
    }
}
