/// A resize: what a step and a thumbnail do.
package struct ResizeStep: StepForm {
    package let box: PixelSize
    package let mode: ResizeMode

    package var name: String { "resize" }

    /// `fit` is not upstream's.
    package var key: String {
        let size = "{\(sixDecimals(box.width)),\(sixDecimals(box.height))}"
        return mode == .fit
            ? "ImagebusFitTransformer(\(size))"
            : "SDImageResizingTransformer(\(size),\(mode.rawValue))"
    }

    package var demand: StepDemand { .box(box, mode) }

    package func size(after source: PixelSize) -> PixelSize? {
        guard box.isPositive, max(box.width, box.height) <= Int(Int32.max) else { return nil }
        return ResizeGeometry(source: source, box: box, mode: mode).output
    }

    package func nominalSize(after source: PixelSize?) -> PixelSize? {
        guard mode == .fit, let source else { return box }
        return ResizeGeometry(source: source, box: box, mode: mode).output
    }

    package func check(pixelsMax: Int) throws(ImageError) {
        try box.checkAsBox(of: name)
        guard mode != .fit else { return }
        let limit = min(RequestLimits.pixelsMax, pixelsMax)
        guard let area = box.area, area <= limit else {
            throw .tooLarge(name, limit: limit, "pixels")
        }
    }
}
