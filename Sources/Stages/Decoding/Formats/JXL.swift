import ImageModel
import Vips

/// JPEG XL. Of an animation libvips 8.14 makes the last frame, and counts none.
struct JXLDecoder: LoaderDecoder {
    let format = ImageFormat.jxl
    let loader = VipsLoader.jxl
    let turnsPixels = true

    /// libvips 8.14 leaves colours multiplied by alpha where they are stored so.
    func open(
        _ bytes: UnsafeRawBufferPointer, at scale: DecodeScale
    ) throws(VipsError) -> VipsImage {
        let image = try VipsImage.load(bytes, by: loader)
        let file = HeaderBytes(Span(_unsafeBytes: bytes))
        guard image.header.hasAlpha, file.jxlAlphaIsPremultiplied == true else { return image }
        return try image.unpremultiplied()
    }
}
