import ImageModel
import StageContract
import Vips

/// Darkens by the square of the distance from the centre, of which the corners have all.
struct Vignette: ImageStep {
    let amount: Double

    var name: String { "vignette" }

    func size(after source: PixelSize) throws(ImageError) -> PixelSize { source }

    func apply(to current: StepImage) throws -> StepImage {
        let settled = try current.settled()
        let header = settled.image.header
        let pixels = InterleavedPixels(size: settled.size, bands: header.bands)
        try settled.image.write(to: pixels.mutableBytes)
        let colours = header.bands - (header.hasAlpha ? 1 : 0)
        darken(pixels, colours: colours, settled)
        return settled.replaced(by: try pixels.image(settled.sampler.cancellation))
    }

    private func darken(_ pixels: InterleavedPixels, colours: Int, _ image: StepImage) {
        let (width, height, bands) = (pixels.size.width, pixels.size.height, pixels.bands)
        let bytes = pixels.mutableBytes
        for y in 0..<height where !image.sampler.cancellation.isCancelled {
            let down = Self.distance(y, height)
            for x in 0..<width {
                let across = Self.distance(x, width)
                let light = 1 - amount / 100 * (across * across + down * down) / 2
                let start = (y * width + x) * bands
                for index in start..<(start + colours) {
                    bytes[index] = UInt8((Double(bytes[index]) * light).rounded())
                }
            }
        }
    }

    /// From the centre to the middle of a pixel, in halves of the side.
    private static func distance(_ place: Int, _ side: Int) -> Double {
        (2 * Double(place) + 1) / Double(side) - 1
    }

    /// Colours of planes stand for several pixels.
    func fold(into plan: inout PlanarPlan) -> Bool { false }
}

extension VignetteStep: PixelStep {
    var imageSteps: [any ImageStep] { [Vignette(amount: number)] }
}
