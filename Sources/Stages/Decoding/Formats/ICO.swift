import ImageModel
import Vips

/// Icons and cursors of Windows: the largest and deepest image of the file. It is a PNG, or a
/// bitmap with a mask.
struct ICODecoder: FormatDecoder {
    let format = ImageFormat.ico
    let loaders = [VipsLoader.png]

    func header(_ bytes: UnsafeRawBufferPointer) throws(VipsError) -> VipsImage {
        let icon = try Self.largest(of: bytes)
        guard let bitmap = icon.bitmap else { return try .checkedPNG(Self.part(bytes, icon)) }
        guard bitmap.coding == .plain else { throw .unknownCoding }
        return try .blank(width: icon.size.width, height: icon.size.height, bands: 4)
    }

    func open(
        _ bytes: UnsafeRawBufferPointer, at scale: DecodeScale
    ) throws(VipsError) -> VipsImage {
        let icon = try Self.largest(of: bytes)
        guard let bitmap = icon.bitmap else { return try .checkedPNG(Self.part(bytes, icon)) }
        guard bitmap.coding == .plain else { throw .unknownCoding }
        try VipsImage.checkArea(of: icon.size)
        let image = BitmapPixels(bitmap, icon.size, bands: 4, in: bytes)
        let file = UnsafeRawBufferPointer(rebasing: bytes[..<icon.range.upperBound])
        let pixels = try image.read(file)
        image.applyMask(to: pixels, file)
        return try .pixels(
            UnsafeRawBufferPointer(pixels.bytes), width: icon.size.width,
            height: icon.size.height, bands: 4, owner: pixels)
    }

    private static func largest(of bytes: UnsafeRawBufferPointer) throws(VipsError) -> IconImage {
        guard let icon = HeaderBytes(Span(_unsafeBytes: bytes)).largestIcon else {
            throw VipsError(kind: .corrupt, operation: "ico", text: "no image that can be read")
        }
        return icon
    }

    private static func part(
        _ bytes: UnsafeRawBufferPointer, _ icon: IconImage
    ) -> UnsafeRawBufferPointer {
        UnsafeRawBufferPointer(rebasing: bytes[icon.range])
    }
}
