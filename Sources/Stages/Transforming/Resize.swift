import ImageModel
import Vips

/// Scales to a box (DESIGN §7, resize modes).
struct Resize: PictureStep {
    let box: PixelSize
    let mode: ResizeMode

    var name: String { "resize" }

    func size(for picture: Picture) throws(ImageError) -> PixelSize {
        guard box.isPositive else {
            throw .step(name, "a box of \(box) has no pixels")
        }
        let geometry = geometry(for: picture)
        // What is scaled to cover the box may be far larger than the box: the limits are for it.
        return PixelSize(
            width: max(geometry.scaled.width, geometry.output.width),
            height: max(geometry.scaled.height, geometry.output.height))
    }

    func apply(to picture: Picture) throws(VipsError) -> Picture {
        let geometry = geometry(for: picture)
        let scaled = try picture.resampled(to: geometry.scaled)
        switch mode {
        case .fit, .stretch: return scaled
        case .fill: return try scaled.cutCentred(to: geometry.output)
        case .letterbox: return try scaled.padCentred(to: geometry.output)
        }
    }

    private func geometry(for picture: Picture) -> ResizeGeometry {
        ResizeGeometry(source: picture.size, box: box, mode: mode)
    }
}
