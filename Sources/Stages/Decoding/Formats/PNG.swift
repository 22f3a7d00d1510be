import ImageModel
import Vips

/// PNG; of an animated one the default image.
struct PNGDecoder: LoaderDecoder {
    let format = ImageFormat.png
    let loader = VipsLoader.png

    func open(
        _ bytes: UnsafeRawBufferPointer, at scale: DecodeScale
    ) throws(VipsError) -> VipsImage {
        try .png(bytes)
    }
}
