/// A part of a size, cut out where the image counts most.
package struct CropToStep: ValuedStep {
    package var extent: RelativeSize
    package var gravity: Gravity

    package var key: String { "ImagebusCropToTransformer({\(extent)},\(gravity))" }

    package var demand: StepDemand { .everything }

    /// What is striking is looked for in 8 bits.
    package var takesDepth: Bool { gravity.isPlace }

    package func size(after source: PixelSize) -> PixelSize? { extent.resolved(in: source) }

    package func nominalSize(after source: PixelSize?) -> PixelSize? {
        source.map(extent.resolved) ?? extent.pixels
    }

    package func scaled(by ratio: Double) -> TransformStep? {
        .cropTo(extent.scaled(by: ratio), gravity.scaled(by: ratio))
    }

    package static let values: [StepValue<Self>] = [.extent(\.extent), .gravity(\.gravity)]

    package static let blank = CropToStep(
        extent: RelativeSize(width: .percent(100), height: .percent(100)), gravity: .center)

    package var step: TransformStep { .cropTo(extent, gravity) }

    package static let syntax = StepSyntax(
        "crop-to", value: "WxH[,GRAVITY]",
        "cut out a part of a size in pixels or, with %, of the image; GRAVITY:\n"
            + "center, north, northeast … northwest, such a place moved inwards\n"
            + "(north:0:5%), fp:X:Y (a focus, 0 to 1), px:X:Y (in pixels),\n"
            + "attention or entropy (repeatable)",
        expected: "WIDTHxHEIGHT[,GRAVITY], sides of 1 to \(RequestLimits.sideMax) pixels or up to "
            + "100%, such as 300x200,northeast or 50%x100%,fp:0.3:0.7; GRAVITY is one of "
            + Gravity.expected, parse)
}
