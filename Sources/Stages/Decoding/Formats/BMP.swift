import ImageModel
import Messages
import Pixbuf
import Vips

/// BMP. libvips has no loader of it; gdk-pixbuf reads run lengths.
struct BMPDecoder: FormatDecoder {
    let format = ImageFormat.bmp
    let loaders: [VipsLoader] = []

    func prepare() -> Bool { PixbufLoader.bmp.load() }

    func header(_ bytes: UnsafeRawBufferPointer) throws(VipsError) -> VipsImage {
        let bitmap = try Self.bitmap(of: bytes)
        return try .blank(
            width: bitmap.size.width, height: bitmap.size.height, bands: bitmap.bands
        ).enclosing(profile: bitmap.profile.map { Array(bytes[$0]) } ?? [], xmp: [])
    }

    func open(
        _ bytes: UnsafeRawBufferPointer, at scale: DecodeScale
    ) throws(VipsError) -> VipsImage {
        let bitmap = try Self.bitmap(of: bytes)
        guard bitmap.coding == .plain else {
            return try .pixbuf(bytes, by: .bmp, bitmap.size, bands: bitmap.bands)
        }
        try VipsImage.checkArea(of: bitmap.size)
        let pixels = try BitmapPixels(bitmap, bitmap.size, bands: bitmap.bands, in: bytes)
            .read(bytes)
        return try .pixels(
            UnsafeRawBufferPointer(pixels.bytes), width: bitmap.size.width,
            height: bitmap.size.height, bands: bitmap.bands, owner: pixels)
    }

    private static func bitmap(of bytes: UnsafeRawBufferPointer) throws(VipsError) -> BitmapHeader {
        guard let bitmap = HeaderBytes(Span(_unsafeBytes: bytes)).bitmap else {
            throw VipsError(kind: .corrupt, operation: "bmp", text: "a header that is none")
        }
        guard bitmap.coding != .unknown else { throw .unknownCoding }
        return bitmap
    }
}

extension VipsError {
    /// Of a bitmap.
    static var unknownCoding: VipsError {
        VipsError(
            kind: .unsupported, operation: "bitmap",
            text: "an unknown depth, or a compression that is for printers")
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
        try checkArea(of: size)
        let pixels = ZeroedBytes(count: size.width * size.height * bands)
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

    /// Refuses an image for whose pixels no memory is to be taken.
    static func checkArea(of size: PixelSize) throws(VipsError) {
        guard let area = size.area, area <= ImageLimits.ofWorkers.pixelsMax else {
            throw VipsError(kind: .tooLarge, operation: "bitmap", text: "an image of \(size)")
        }
    }
}
