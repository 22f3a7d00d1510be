import ImageModel
import Vips

/// HEIC, AVIF and other images of the HEIF family: the primary image of the file.
struct HEIFDecoder: LoaderDecoder {
    let format: ImageFormat
    let loader = VipsLoader.heif
    let turnsPixels = true
}
