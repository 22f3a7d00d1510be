import ImageModel
import Messages
import Vips

/// Lays another image over this one; what lies outside is left out. Grey becomes colour. An image
/// without transparency stays so, unless the mode takes something away.
struct Composite: ImageStep {
    let overlay: Overlay
    let source: PixelSource

    var name: String { "overlay" }

    func size(after source: PixelSize) throws(ImageError) -> PixelSize { source }

    func apply(to current: StepImage) throws -> StepImage {
        let base = try current.settled()
        let own = try Self.stepImage(source, sampler: current.sampler)
        let layer = try own.resampled(to: overlay.laidSize(of: own.size, on: base.size))
        let isPlain = overlay.mode == .normal && !overlay.repeats
        return try isPlain ? laid(layer, over: base) : blended(layer, over: base)
    }

    /// Once, as it is.
    private func laid(_ layer: StepImage, over base: StepImage) throws -> StepImage {
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

    /// Pixel by pixel.
    private func blended(_ layer: StepImage, over base: StepImage) throws -> StepImage {
        let tiles = try OverlayTiles(
            layer, at: overlay.origin(of: layer.size, on: base.size), on: base.size, overlay)
        let isOpaque = base.isOpaque && overlay.mode.keepsOpaque
        let coloured = try base.image.coloured()
        let image =
            try isOpaque || coloured.header.hasAlpha ? coloured : coloured.withAlpha()
        let header = image.header
        return try base.changingRows(of: image, isOpaque: isOpaque) { y, row in
            guard tiles.rows.contains(y) else { return }
            for x in tiles.columns {
                let pixel = BlendPixel(row, at: x * header.bands, header)
                overlay.mode.blend(tiles.pixel(x, y), over: pixel)
                    .write(to: row, at: x * header.bands, header)
            }
        }
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
