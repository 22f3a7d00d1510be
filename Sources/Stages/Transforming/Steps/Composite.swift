import ImageModel
import Messages
import Vips

/// Lays another image over this one; what lies outside is left out. Grey becomes colour, an
/// image without transparency stays so.
struct Composite: ImageStep {
    let overlay: Overlay
    let source: PixelSource

    var name: String { "overlay" }

    func size(after source: PixelSize) throws(ImageError) -> PixelSize { source }

    func apply(to current: StepImage) throws -> StepImage {
        let base = try current.settled()
        let layer = try Self.stepImage(source, sampler: current.sampler).settled()
        let origin = overlay.origin(of: layer.size, on: base.size)
        let covered = PixelRect(x: -origin.x, y: -origin.y, size: base.size)
        guard let part = covered.intersection(with: layer.size) else { return base }
        let seen = try layer.image.extracted(
            left: part.x, top: part.y, width: part.size.width, height: part.size.height)
        // Layers are computed in squares, for which rows must be there already.
        let image = try base.computed().image.overlaid(
            by: seen, left: max(0, origin.x), top: max(0, origin.y), opacity: overlay.opacity)
        return base.replaced(by: image)
    }

    /// Planes have no layers.
    func fold(into plan: inout PlanarPlan) -> Bool { false }

    /// Whatever the decoder made of it, as it is displayed.
    private static func stepImage(_ source: PixelSource, sampler: PlaneSampler) throws -> StepImage
    {
        guard PlanarLane.takes(source.layout) else {
            return try StepImage(source, sampler: sampler).computed()
        }
        let plan = PlanarPlan(size: source.size, orientation: source.layout.orientation)
        return try PlanarLane(source: source, plan: plan, sampler: sampler).stepImage()
    }
}
