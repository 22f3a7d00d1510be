import ImageModel
import Vips

extension StepImage {
    /// A part of this settled image; it lies in it.
    func cut(_ part: PixelRect) throws -> StepImage {
        guard part.size != size else { return self }
        let image = try image.extracted(
            left: part.x, top: part.y, width: part.size.width, height: part.size.height)
        return replaced(by: image)
    }
}

extension PixelSize {
    /// The middle part, at most so large; of an odd rest the greater half is cut off at the right
    /// and the bottom.
    func middle(_ target: PixelSize) -> PixelRect {
        let size = PixelSize(width: min(width, target.width), height: min(height, target.height))
        return PixelRect(x: (width - size.width) / 2, y: (height - size.height) / 2, size: size)
    }
}
