import ImageModel
import Vips

/// Adds margins to the image.
struct Extend: ImageStep {
    let margins: Margins
    let fill: MarginFill

    var name: String { "extend" }

    func size(after source: PixelSize) throws(ImageError) -> PixelSize {
        guard let size = margins.size(around: source) else {
            throw .step(name, "the margins are beyond their limits")
        }
        return size
    }

    func apply(to current: StepImage) throws -> StepImage {
        let settled = try current.settled()
        let target = try size(after: settled.size)
        guard target != settled.size else { return settled }
        switch fill {
        case .colour(let colour):
            let canvas = CanvasColour(colour)
            let image = try canvas.prepared(settled.image)
            let extended = try image.embedded(
                left: margins.left, top: margins.top, width: target.width, height: target.height,
                background: canvas.samples(bands: image.header.bands))
            return settled.replaced(by: extended, isOpaque: settled.isOpaque && canvas.isOpaque)
        case .copy: return try repeated(settled, over: target, by: .copy)
        case .repeat: return try repeated(settled, over: target, by: .repeat)
        case .mirror: return try repeated(settled, over: target, by: .mirror)
        }
    }

    /// Its pixels are used again and again.
    private func repeated(
        _ settled: StepImage, over target: PixelSize, by edge: VipsImage.Edge
    ) throws -> StepImage {
        let computed = try settled.computed()
        return computed.replaced(
            by: try computed.image.extended(
                left: margins.left, top: margins.top, width: target.width, height: target.height,
                by: edge))
    }

    /// Planes have no margins.
    func fold(into plan: inout PlanarPlan) -> Bool { margins == Margins() }
}

extension ExtendStep: PixelStep {
    var imageSteps: [any ImageStep] { [Extend(margins: margins, fill: fill)] }
}
