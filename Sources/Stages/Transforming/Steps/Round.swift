import ImageModel
import Vips

/// Cuts corners off and draws a border, as upstream does: the image lies in a rectangle that is
/// smaller by the border, which is drawn over it half a pixel further in.
struct Round: ImageStep {
    let step: RoundStep

    var name: String { step.name }

    func size(after source: PixelSize) throws(ImageError) -> PixelSize {
        guard let size = step.size(after: source) else {
            throw .step(
                name,
                "a border of \(step.border) pixels leaves nothing of an image of \(source): "
                    + "it is less than half of the shorter side")
        }
        return size
    }

    func apply(to current: StepImage) throws -> StepImage {
        let settled = try current.settled()
        let line = Line(step, settled.size)
        let coloured =
            try line == nil || step.colour?.isGrey == true
            ? settled.image : settled.image.coloured()
        let image = try coloured.header.hasAlpha ? coloured : coloured.withAlpha()
        let shape = RoundedRect(
            in: settled.size, inset: step.border, radius: step.radius, corners: step.corners)
        let bands = image.header.bands
        return try settled.changingRows(of: image, isOpaque: false) { y, row in
            let whole = shape.wholeColumns(y)
            let untouched = line.map { whole.clamped(to: $0.inner.wholeColumns(y)) } ?? whole
            for x in 0..<settled.size.width where !untouched.contains(x) {
                let alpha = (x + 1) * bands - 1
                let seen = Double(row[alpha]) / 255 * shape.coverage(x, y)
                guard let line, case let over = line.coverage(x, y), over > 0 else {
                    row[alpha] = UInt8((seen * 255).rounded())
                    continue
                }
                let both = over + seen * (1 - over)
                row[alpha] = UInt8((both * 255).rounded())
                for (band, colour) in zip((x * bands)..<alpha, line.colour) {
                    let sum = colour * over + Double(row[band]) * seen * (1 - over)
                    row[band] = UInt8((sum / both).rounded())
                }
            }
        }
    }

    /// Planes have no transparency.
    func fold(into plan: inout PlanarPlan) -> Bool { false }
}

/// What is drawn along the edge, between two rectangles.
private struct Line {
    let colour: [Double]
    let inner: RoundedRect
    private let opacity: Double
    private let outer: RoundedRect

    /// `nil` where nothing is drawn.
    init?(_ step: RoundStep, _ size: PixelSize) {
        guard let colour = step.colour, step.border > 0 else { return nil }
        let middle = RoundedRect(
            in: size, inset: step.border.rounded(.down) + 0.5, radius: max(0, step.radius - 0.5),
            corners: step.corners)
        (inner, outer) = (middle.grown(by: -step.border / 2), middle.grown(by: step.border / 2))
        self.colour = [colour.red, colour.green, colour.blue].map { Double($0) }
        opacity = Double(colour.alpha) / 255
    }

    func coverage(_ x: Int, _ y: Int) -> Double {
        opacity * max(0, outer.coverage(x, y) - inner.coverage(x, y))
    }
}

extension RoundStep: PixelStep {
    var imageSteps: [any ImageStep] {
        radius > 0 || border > 0 ? [Round(step: self)] : []
    }
}
