import ImageModel
import Vips

/// Takes the middle part, at most so many pixels; of an odd rest the greater half is cut off at the
/// right and the bottom.
struct CenterCrop: ImageStep {
    let target: PixelSize

    var name: String { "resize" }

    func size(after source: PixelSize) throws(ImageError) -> PixelSize { part(of: source).size }

    func apply(to current: StepImage) throws -> StepImage {
        let settled = try current.settled()
        return try settled.cut(part(of: settled.size))
    }

    func fold(into plan: inout PlanarPlan) -> Bool {
        plan.crop(part(of: plan.size))
        return true
    }

    private func part(of source: PixelSize) -> PixelRect {
        let size = PixelSize(
            width: min(source.width, target.width), height: min(source.height, target.height))
        return PixelRect(
            x: (source.width - size.width) / 2, y: (source.height - size.height) / 2, size: size)
    }
}

extension StepImage {
    /// A part of this settled image; it lies in it.
    func cut(_ part: PixelRect) throws -> StepImage {
        guard part.size != size else { return self }
        let image = try image.extracted(
            left: part.x, top: part.y, width: part.size.width, height: part.size.height)
        return replaced(by: image)
    }
}
