import ImageModel
import Messages
import Vips

/// One step of the pipeline: a picture in, a picture out, pixels computed later where possible.
protocol PictureStep {
    /// The word for it in errors.
    var name: String { get }
    /// The size of the result: checked against the limits before anything is done.
    func size(for picture: Picture) throws(ImageError) -> PixelSize
    /// The result, of exactly that size.
    func apply(to picture: Picture) throws(VipsError) -> Picture
}

extension PictureStep {
    /// Checks, then applies; errors name the step.
    func run(on picture: Picture, limits: ImageLimits) throws(ImageError) -> Picture {
        try limits.check(size(for: picture), step: name)
        do {
            return try apply(to: picture)
        } catch {
            throw ImageError(transforming: error, step: name)
        }
    }
}

extension ImageLimits {
    /// Four bytes a pixel are assumed, since a step may add an alpha band.
    fileprivate func check(_ size: PixelSize, step: String) throws(ImageError) {
        guard size.width <= sideMax, size.height <= sideMax else {
            throw .over("sideMax", step, "\(size) after \(step), a side may have \(sideMax) pixels")
        }
        guard let area = size.area, area <= pixelsMax, area <= pixelBytesMax / 4 else {
            throw .over("pixelsMax", step, "\(size) after \(step) is over the limit")
        }
    }
}
