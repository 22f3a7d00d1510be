import ImageModel
import Vips

/// PDF, the first page of it on white, drawn as large as it is needed. Its own size is that of its
/// points, 72 to the inch.
struct PDFDecoder: LoaderDecoder {
    let format = ImageFormat.pdf
    let loader = VipsLoader.pdf

    func open(
        _ bytes: UnsafeRawBufferPointer, at scale: DecodeScale
    ) throws(VipsError) -> VipsImage {
        // White is paper: nothing is transparent, though the loader has a band for it.
        try .pdf(bytes, scale: scale.value).firstBands(3)
    }
}
