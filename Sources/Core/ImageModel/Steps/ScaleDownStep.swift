/// At most so many bytes of pixels, four for each, and never more than the image has: upstream's
/// limit of bytes (SEMANTICS §11.18).
package struct ScaleDownStep: NumberStep {
    package var number: Int

    package static let traits = NumberTraits<Int>(
        key: "ImagebusScaleDownTransformer", "bytes", in: 1...RequestLimits.scaleDownBytesMax)

    package init(_ number: Int) { self.number = number }

    package var step: TransformStep { .scaleDown(bytes: number) }

    package var demand: StepDemand { .area(max(1, pixels)) }

    /// What is left of the limit once it was divided; 0 for less than four bytes.
    private var pixels: Int { number / 4 }

    package var takesDepth: Bool { true }

    package func size(after source: PixelSize) -> PixelSize? {
        resize(of: source).size(after: source)
    }

    /// What it is for an image of that size: the box is the largest of the image's ratio that has
    /// no more pixels, each side rounded down.
    package func resize(of source: PixelSize) -> ResizeStep {
        ResizeStep(box: source.box(ofPixels: pixels), mode: .fit, enlarges: false)
    }

    package static let syntax = StepSyntax(
        "scale-down", value: "BYTES",
        "scale down what takes more bytes, four a pixel (repeatable)",
        expected: "bytes from 1 to \(RequestLimits.scaleDownBytesMax), such as 4000000", parse)
}

extension PixelSize {
    /// The largest box of the ratio of `self`, whose sides are positive, that has no more pixels,
    /// each side rounded down and at least 1; sides up to 2³¹ − 1.
    func box(ofPixels pixels: Int) -> PixelSize {
        let ratio = Double(height) / Double(width)
        let columns = (Double(pixels) / ratio).squareRoot()
        func side(_ length: Double) -> Int { Int(min(max(1, length), Double(Int32.max))) }
        return PixelSize(width: side(columns), height: side(columns * ratio))
    }
}
