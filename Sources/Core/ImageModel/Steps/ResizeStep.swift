/// A resize: what a step and a thumbnail do.
package struct ResizeStep: StepForm {
    /// A side of 0 is open: it follows from the other one by the ratio of the image.
    package let box: PixelSize
    package let mode: ResizeMode
    package let enlarges: Bool

    package var name: String { "resize" }

    /// Modes from `fit` on are not upstream's, nor is one that enlarges where it does not, or the
    /// other way.
    package var key: String {
        let size = "{\(sixDecimals(box.width)),\(sixDecimals(box.height))}"
        guard enlarges == mode.enlarges, mode.rawValue <= ResizeMode.fit.rawValue else {
            return "ImagebusResizingTransformer(\(size),\(mode.rawValue),\(enlarges ? 1 : 0))"
        }
        return mode == .fit
            ? "ImagebusFitTransformer(\(size))"
            : "SDImageResizingTransformer(\(size),\(mode.rawValue))"
    }

    /// A fit that enlarges and a letterbox that does not use as many pixels as the other of the two
    /// usually does, a reshape that enlarges as many as a stretch.
    package var demand: StepDemand {
        switch mode {
        case .fit where enlarges: .box(box, .letterbox)
        case .letterbox where !enlarges: .box(box, .fit)
        case .reshape where enlarges: .box(box, .stretch)
        default: .box(box, mode)
        }
    }

    package var takesDepth: Bool { true }

    package func size(after source: PixelSize) -> PixelSize? {
        let closed = box.closed
        guard closed.isPositive, max(closed.width, closed.height) <= Int(Int32.max) else {
            return nil
        }
        return geometry(of: source).output
    }

    package func geometry(of source: PixelSize) -> ResizeGeometry {
        ResizeGeometry(source: source, box: box, mode: mode, enlarges: enlarges)
    }

    package func nominalSize(after source: PixelSize?) -> PixelSize? {
        source.map { geometry(of: $0).output } ?? box.closed
    }

    package func scaled(by ratio: Double) -> TransformStep? {
        .resize(box.scaled(by: ratio), mode, enlarges: enlarges)
    }

    /// What it makes of every source; `nil` where that depends on the source.
    package var certainSize: PixelSize? {
        guard box.isPositive else { return nil }
        switch mode {
        case .letterbox: return box
        case .stretch, .fill, .reshape: return enlarges ? box : nil
        case .fit, .cover, .auto, .fitTurned, .coverTurned: return nil
        }
    }

    package func check(pixelsMax: Int) throws(ImageError) {
        try box.closed.checkAsBox(of: name)
        guard let size = certainSize else { return }
        let limit = min(RequestLimits.pixelsMax, pixelsMax)
        guard let area = size.area, area <= limit else {
            throw .tooLarge(name, limit: limit, "pixels")
        }
    }
}
