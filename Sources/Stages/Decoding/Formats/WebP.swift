import ImageModel
import Vips

/// WebP, the first frame of it: made smaller as it is decoded.
struct WebPDecoder: FormatDecoder {
    let format = ImageFormat.webp
    let loader = VipsLoader.webp

    func open(
        _ bytes: UnsafeRawBufferPointer, at scale: DecodeScale
    ) throws(VipsError) -> VipsImage {
        try .webp(bytes, scale: scale.value)
    }
}
