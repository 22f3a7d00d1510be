import ImageModel
import Vips

/// A colour that is seen around an image.
struct CanvasColour {
    private let colour: Colour

    init(_ colour: Colour) { self.colour = colour }

    var isOpaque: Bool { colour.alpha == UInt8.max }

    /// The image in bands that have room for the colour.
    func prepared(_ image: VipsImage) throws(VipsError) -> VipsImage {
        let coloured = try colour.isGrey ? image : image.coloured()
        return try isOpaque || coloured.header.hasAlpha ? coloured : coloured.withAlpha()
    }

    /// The colour in the bands of such an image.
    func samples(bands: Int) -> [Double] {
        let colours = [colour.red, colour.green, colour.blue].prefix(bands < 3 ? 1 : 3)
        return (colours + (bands % 2 == 0 ? [colour.alpha] : [])).map { Double($0) }
    }
}
