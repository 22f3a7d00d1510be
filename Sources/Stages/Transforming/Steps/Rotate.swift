import ImageModel
import Vips

/// Turns about the centre.
struct Rotate: ImageStep {
    let rotation: Rotation

    var name: String { "rotate" }

    func size(after source: PixelSize) throws(ImageError) -> PixelSize {
        guard let size = rotation.size(of: source) else {
            throw .step(name, "the angle is no number that can be turned by")
        }
        return size
    }

    func apply(to current: StepImage) throws -> StepImage {
        guard let quarters = rotation.quarterTurnsClockwise else { return try turned(current) }
        guard quarters != 0 else { return current }
        if quarters % 2 == 0 || rotation.fitsSize {
            return try current.computed().turned(quarters: quarters)
        }
        // The canvas stays: what sticks out is cut off, the rest is transparent.
        let settled = try current.settled()
        let turned = try settled.computed().turned(quarters: quarters)
        let common = PixelSize(
            width: min(settled.size.width, turned.size.width),
            height: min(settled.size.height, turned.size.height))
        let whole = try turned.settled()
        let cut = try whole.cut(whole.size.middle(common))
        return try Pad { [size = settled.size] in size.atLeast($0) }.apply(to: cut)
    }

    /// By any angle: the rest of the canvas is transparent.
    private func turned(_ current: StepImage) throws -> StepImage {
        let settled = try current.settled()
        let size = try size(after: settled.size)
        let image = try settled.image.header.hasAlpha ? settled.image : settled.image.withAlpha()
        let turned = try settled.replaced(by: image).computed().image.turned(
            radians: rotation.radians, width: size.width, height: size.height)
        return settled.replaced(by: turned, isOpaque: false)
    }

    /// On a canvas that stays, quarters of a turn leave transparent edges.
    func fold(into plan: inout PlanarPlan) -> Bool {
        guard let quarters = rotation.quarterTurnsClockwise,
            quarters % 2 == 0 || rotation.fitsSize
        else { return false }
        plan.turn(quarters: quarters)
        return true
    }
}

extension StepImage {
    /// Turned clockwise by 1, 2 or 3 quarters; pixels that are not image turn as well.
    func turned(quarters: Int) throws -> StepImage {
        let header = image.header
        let (right, bottom) = (
            Double(header.width) - active.left - active.width,
            Double(header.height) - active.top - active.height
        )
        let region =
            switch quarters {
            case 1:
                ActiveRegion(
                    left: bottom, top: active.left, width: active.height, height: active.width)
            case 2:
                ActiveRegion(
                    left: right, top: bottom, width: active.width, height: active.height)
            default:
                ActiveRegion(
                    left: active.top, top: right, width: active.height, height: active.width)
            }
        return StepImage(
            try image.rotated(quarters: quarters),
            size: quarters % 2 == 1 ? size.transposed : size, active: region, isOpaque: isOpaque,
            sampler: sampler)
    }
}

extension RotateStep: PixelStep {
    var imageSteps: [any ImageStep] { [Rotate(rotation: rotation)] }
}
