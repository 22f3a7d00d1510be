import ImageModel
import StageContract
import Vips

extension StepImage {
    /// Another image of this size in place of this one, its samples changed row by row where they
    /// lie; rows after a cancel stay as they are.
    func changingRows(
        of image: VipsImage, isOpaque: Bool,
        _ change: (_ y: Int, _ samples: UnsafeMutableRawBufferPointer) -> Void
    ) throws -> StepImage {
        let pixels = InterleavedPixels(size: size, bands: image.header.bands)
        try image.write(to: pixels.mutableBytes)
        let stride = size.width * pixels.bands
        for y in 0..<size.height where !sampler.cancellation.isCancelled {
            change(y, .init(rebasing: pixels.mutableBytes[(y * stride)..<((y + 1) * stride)]))
        }
        return replaced(by: try pixels.image(sampler.cancellation), isOpaque: isOpaque)
    }
}

extension Colour {
    /// Red, green and blue are the same.
    var isGrey: Bool { red == green && green == blue }
}
