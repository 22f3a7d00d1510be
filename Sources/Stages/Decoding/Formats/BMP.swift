import ImageModel
import Messages
import Pixbuf
import Vips

/// BMP, by gdk-pixbuf: libvips itself has no loader of it.
struct BMPDecoder: FormatDecoder {
    let format = ImageFormat.bmp
    let loaders: [VipsLoader] = []

    func prepare() -> Bool { PixbufLoader.bmp.load() }

    func header(_ bytes: UnsafeRawBufferPointer) throws(VipsError) -> VipsImage {
        let bitmap = try Self.bitmap(of: bytes)
        return try .blank(
            width: bitmap.size.width, height: bitmap.size.height, bands: bitmap.bands)
    }

    func open(
        _ bytes: UnsafeRawBufferPointer, at scale: DecodeScale
    ) throws(VipsError) -> VipsImage {
        let bitmap = try Self.bitmap(of: bytes)
        // A header alone costs no memory for pixels.
        guard bitmap.storedBytes ?? 0 <= bytes.count else {
            throw VipsError(kind: .corrupt, operation: "bmp", text: "rows are missing")
        }
        return try .pixbuf(bytes, by: .bmp, bitmap.size, bands: bitmap.bands)
    }

    private static func bitmap(of bytes: UnsafeRawBufferPointer) throws(VipsError) -> BitmapHeader {
        guard let bitmap = HeaderBytes(Span(_unsafeBytes: bytes)).bitmap else {
            throw VipsError(kind: .corrupt, operation: "bmp", text: "a header that is none")
        }
        guard bitmap.isPlain else {
            throw VipsError(
                kind: .unsupported, operation: "bmp", text: "a compression that is for printers")
        }
        return bitmap
    }
}

extension BitmapHeader {
    /// Of what is made of it. Without a mask the fourth byte of a pixel says nothing.
    fileprivate var bands: Int { hasAlpha ? 4 : 3 }
}

extension VipsImage {
    /// All pixels of an image as gdk-pixbuf makes them, of the size that its header says.
    static func pixbuf(
        _ bytes: UnsafeRawBufferPointer, by loader: PixbufLoader, _ size: PixelSize, bands: Int
    ) throws(VipsError) -> VipsImage {
        guard let area = size.area, area <= ImageLimits.ofWorkers.pixelsMax else {
            throw VipsError(kind: .tooLarge, operation: "pixbuf", text: "an image of \(size)")
        }
        let pixels = ZeroedBytes(count: area * bands)
        do {
            try loader.decode(
                bytes, width: size.width, height: size.height, bands: bands, into: pixels.bytes)
        } catch {
            throw VipsError(kind: .corrupt, operation: "pixbuf", text: error.text)
        }
        return try .pixels(
            UnsafeRawBufferPointer(pixels.bytes), width: size.width, height: size.height,
            bands: bands, owner: pixels)
    }
}
