import ImageModel
import Vips

/// TIFF, the first page of it.
struct TIFFDecoder: LoaderDecoder {
    let format = ImageFormat.tiff
    let loader = VipsLoader.tiff

    func open(
        _ bytes: UnsafeRawBufferPointer, at scale: DecodeScale
    ) throws(VipsError) -> VipsImage {
        try .load(bytes, by: loader, options: ["page": 0, "n": 1])
    }
}
