import ImageModel
import Vips

/// Lays the image over a colour.
struct Flatten: ImageStep {
    let colour: Colour

    var name: String { "flatten" }

    func size(after source: PixelSize) throws(ImageError) -> PixelSize { source }

    func apply(to current: StepImage) throws -> StepImage {
        guard current.image.header.hasAlpha else { return current }
        let image = try colour.isGrey ? current.image : current.image.coloured()
        let flat = try image.flattened(
            red: Double(colour.red), green: Double(colour.green), blue: Double(colour.blue))
        return current.recoloured(flat, isOpaque: true)
    }

    /// Planes have no transparency.
    func fold(into plan: inout PlanarPlan) -> Bool { true }
}

extension FlattenStep: PixelStep {
    var imageSteps: [any ImageStep] { [Flatten(colour: colour)] }
}
