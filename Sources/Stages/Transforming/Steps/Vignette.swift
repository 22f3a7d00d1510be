import ImageModel
import Vips

/// Darkens by the square of the distance from the centre, of which the corners have all.
struct Vignette: ImageStep {
    let amount: Double

    var name: String { "vignette" }

    func size(after source: PixelSize) throws(ImageError) -> PixelSize { source }

    func apply(to current: StepImage) throws -> StepImage {
        let settled = try current.settled()
        let (header, size) = (settled.image.header, settled.size)
        let colours = header.bands - (header.hasAlpha ? 1 : 0)
        return try settled.changingRows(of: settled.image, isOpaque: settled.isOpaque) { y, row in
            let down = Self.distance(y, size.height)
            for x in 0..<size.width {
                let across = Self.distance(x, size.width)
                let light = 1 - amount / 100 * (across * across + down * down) / 2
                let start = x * header.bands
                for index in start..<(start + colours) {
                    row[index] = UInt8((Double(row[index]) * light).rounded())
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
