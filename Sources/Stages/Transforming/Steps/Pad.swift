import ImageModel
import Vips

/// Puts the image on a canvas, where that is larger; of an odd rest in the middle the greater half
/// is at the right and the bottom.
struct Pad: ImageStep {
    let canvas: PixelSize
    var gravity = Gravity.center
    var colour = Colour.clear
    var name = "resize"

    func size(after source: PixelSize) throws(ImageError) -> PixelSize {
        PixelSize(
            width: max(source.width, canvas.width), height: max(source.height, canvas.height))
    }

    func apply(to current: StepImage) throws -> StepImage {
        let settled = try current.settled()
        let size = settled.size
        let target = PixelSize(
            width: max(size.width, canvas.width), height: max(size.height, canvas.height))
        guard target != size else { return settled }
        let image = try onCanvas(settled.image)
        let origin = gravity.origin(of: size, on: target) ?? (0, 0)
        let padded = try image.embedded(
            left: origin.x, top: origin.y, width: target.width, height: target.height,
            background: background(bands: image.header.bands))
        return settled.replaced(by: padded, isOpaque: settled.isOpaque && isOpaque)
    }

    private var isOpaque: Bool { colour.alpha == UInt8.max }

    /// In bands that have room for the colour.
    private func onCanvas(_ image: VipsImage) throws(VipsError) -> VipsImage {
        let coloured = try colour.isGrey ? image : image.coloured()
        return try isOpaque || coloured.header.hasAlpha ? coloured : coloured.withAlpha()
    }

    private func background(bands: Int) -> [Double] {
        let colours = [colour.red, colour.green, colour.blue].prefix(bands < 3 ? 1 : 3)
        return (colours + (bands % 2 == 0 ? [colour.alpha] : [])).map { Double($0) }
    }

    /// Planes have no transparency.
    func fold(into plan: inout PlanarPlan) -> Bool {
        plan.size.width >= canvas.width && plan.size.height >= canvas.height
    }
}

extension PadStep: PixelStep {
    var imageSteps: [any ImageStep] {
        [Pad(canvas: size, gravity: gravity, colour: colour, name: name)]
    }
}
