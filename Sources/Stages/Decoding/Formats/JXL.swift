import ImageModel
import Vips

/// JPEG XL. Of an animation libvips 8.14 makes the last frame, and counts none.
struct JXLDecoder: LoaderDecoder {
    let format = ImageFormat.jxl
    let loader = VipsLoader.jxl
    let turnsPixels = true
}
