import ImageModel
import RSVG
import Vips

/// SVG, drawn as large as it is needed. It is read from memory and has no address: what it names
/// outside of itself is not there.
struct SVGDecoder: FormatDecoder {
    let format = ImageFormat.svg
    let loaders: [VipsLoader] = []

    /// Without fonts texts are left out.
    func prepare() -> Bool { SVGFonts.load() }

    /// Its own size is that of CSS pixels, 96 to the inch.
    func header(_ bytes: UnsafeRawBufferPointer) throws(VipsError) -> VipsImage {
        let size = try Self.size(of: Self.read(bytes))
        return try .blank(width: size.width, height: size.height, bands: 4)
    }

    func open(
        _ bytes: UnsafeRawBufferPointer, at scale: DecodeScale
    ) throws(VipsError) -> VipsImage {
        let drawing = try Self.read(bytes)
        let size = try scale.size(Self.size(of: drawing))
        guard max(size.width, size.height) <= SVGDrawing.sideMax, let area = size.area else {
            throw VipsError(kind: .tooLarge, operation: "svg", text: "a drawing of \(size)")
        }
        let pixels = ZeroedBytes(count: 4 * area)
        do {
            try drawing.draw(into: pixels.bytes, width: size.width, height: size.height)
        } catch {
            let kind = error.lacksMemory ? VipsError.Kind.tooLarge : .corrupt
            throw VipsError(kind: kind, operation: "svg", text: error.text)
        }
        return try .pixels(
            UnsafeRawBufferPointer(pixels.bytes), width: size.width, height: size.height, bands: 4,
            owner: pixels)
    }

    private static func read(_ bytes: UnsafeRawBufferPointer) throws(VipsError) -> SVGDrawing {
        do {
            return try SVGDrawing(bytes)
        } catch {
            throw VipsError(kind: .corrupt, operation: "svg", text: error.text)
        }
    }

    private static func size(of drawing: borrowing SVGDrawing) throws(VipsError) -> PixelSize {
        let (width, height) = (drawing.width.rounded(), drawing.height.rounded())
        guard min(width, height) >= 1 else {
            throw VipsError(kind: .corrupt, operation: "svg", text: "a drawing without a size")
        }
        guard max(width, height) <= Double(VipsImage.sideMax) else {
            throw VipsError(
                kind: .tooLarge, operation: "svg", text: "a drawing of \(width) × \(height)")
        }
        return PixelSize(width: Int(width), height: Int(height))
    }
}
