/// A crop.
package struct CropStep: StepForm {
    package let rect: PixelRect

    package var name: String { "crop" }

    package var key: String {
        "SDImageCroppingTransformer({\(sixDecimals(rect.x)),\(sixDecimals(rect.y)),"
            + "\(sixDecimals(rect.size.width)),\(sixDecimals(rect.size.height))})"
    }

    package var demand: StepDemand { .everything }

    package var takesDepth: Bool { true }

    package func size(after source: PixelSize) -> PixelSize? {
        rect.intersection(with: source)?.size
    }

    package func nominalSize(after source: PixelSize?) -> PixelSize? {
        source.map { size(after: $0) ?? $0 } ?? rect.size
    }

    package func scaled(by ratio: Double) -> TransformStep? {
        .crop(
            PixelRect(
                x: ImageModel.scaled(rect.x, by: ratio), y: ImageModel.scaled(rect.y, by: ratio),
                size: rect.size.scaled(by: ratio)))
    }

    package func check(pixelsMax: Int) throws(ImageError) { try rect.size.checkAsBox(of: name) }

    static let syntax = StepSyntax(
        "crop", value: "X,Y,W,H", "cut a rectangle out (repeatable)",
        expected: "LEFT,TOP,WIDTH,HEIGHT in pixels, such as 10,20,300,200, "
            + "at most \(RequestLimits.sideMax) each"
    ) { PixelRect($0).map { .crop($0) } }
}
