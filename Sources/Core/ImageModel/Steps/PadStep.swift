/// A canvas around the image.
package struct PadStep: ValuedStep {
    package var size: PixelSize
    package var gravity: Gravity
    package var colour: Colour

    package var key: String {
        "ImagebusPadTransformer({\(sixDecimals(size.width)),\(sixDecimals(size.height))},"
            + "\(gravity),\(colour.hexText))"
    }

    package var demand: StepDemand { .everything }

    /// Colours are of sRGB.
    package var takesDepth: Bool { colour == .clear }

    package func size(after source: PixelSize) -> PixelSize? {
        PixelSize(width: max(source.width, size.width), height: max(source.height, size.height))
    }

    package func nominalSize(after source: PixelSize?) -> PixelSize? {
        source.map { size(after: $0) ?? $0 } ?? size
    }

    package func scaled(by ratio: Double) -> TransformStep? {
        .pad(size.scaled(by: ratio), gravity.scaled(by: ratio), colour)
    }

    package func checkMore(pixelsMax: Int) throws(ImageError) {
        try size.checkAsBox(of: name)
        let limit = min(RequestLimits.pixelsMax, pixelsMax)
        guard let area = size.area, area <= limit else {
            throw .tooLarge(name, limit: limit, "pixels")
        }
        guard gravity.isPlace else { throw Self.noPlace(of: name) }
    }

    /// Nobody looks at the pixels for it.
    static func noPlace(of step: String) -> ImageError {
        ImageError(
            .invalidRequest, "\(step): the gravity is a place: only crop-to looks at the image",
            details: ["step": step])
    }

    package static let values: [StepValue<Self>] = [
        .size(\.size), .gravity(\.gravity), .colour(\.colour),
    ]

    package static let blank = PadStep(
        size: PixelSize(width: 1, height: 1), gravity: .center, colour: .clear)

    package var step: TransformStep { .pad(size, gravity, colour) }

    package static let syntax = StepSyntax(
        "pad", value: "WxH[,GRAVITY][,#RRGGBB]",
        "put it on a canvas of at least that size, transparent or of a colour\n"
            + "(#AARRGGBB as well); GRAVITY as of crop-to, but a place (repeatable)",
        expected: "WIDTHxHEIGHT[,GRAVITY][,COLOUR] with sides of 1 to \(RequestLimits.sideMax) "
            + "pixels, such as 300x200,north,#FFFFFF; GRAVITY is a place such as center, north or "
            + "fp:0.3:0.7", parse)
}
