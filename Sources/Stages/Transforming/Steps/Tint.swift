import ImageModel
import Vips

/// Lays a colour over every pixel.
struct Tint: ImageStep {
    let colour: Colour
    let mode: BlendMode

    var name: String { "tint" }

    func size(after source: PixelSize) throws(ImageError) -> PixelSize { source }

    func apply(to current: StepImage) throws -> StepImage {
        let settled = try current.settled()
        let source = BlendPixel(colour)
        // Of an opaque pixel, whatever its colour.
        let isOpaque = settled.isOpaque && mode.blend(source, over: .init(repeating: 1)).w == 1
        let coloured = try colour.isGrey ? settled.image : settled.image.coloured()
        let image =
            try isOpaque || coloured.header.hasAlpha ? coloured : coloured.withAlpha()
        let header = image.header
        return try settled.changingRows(of: image, isOpaque: isOpaque) { _, row in
            for start in stride(from: 0, to: row.count, by: header.bands) {
                let pixel = BlendPixel(row, at: start, header)
                mode.blend(source, over: pixel).write(to: row, at: start, header)
            }
        }
    }

    /// Planes have no transparency, and their colours stand for several pixels.
    func fold(into plan: inout PlanarPlan) -> Bool { false }
}

extension TintStep: PixelStep {
    var imageSteps: [any ImageStep] {
        colour.alpha > 0 ? [Tint(colour: colour, mode: mode)] : []
    }
}
