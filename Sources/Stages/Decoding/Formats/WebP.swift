import ImageModel
import StageContract
import Vips

/// WebP, the first frame of it: made smaller as it is decoded.
struct WebPDecoder: LoaderDecoder {
    let format = ImageFormat.webp
    let loader = VipsLoader.webp

    func open(
        _ bytes: UnsafeRawBufferPointer, at scale: DecodeScale
    ) throws(VipsError) -> VipsImage {
        try .webp(bytes, scale: scale.value)
    }

    /// An image without loss is decoded whole before it is made smaller; of one with loss this is
    /// more than there is.
    func keptBytes(of source: SourceImage, at scale: DecodeScale) -> Int {
        scale == .whole ? 0 : 4 * source.storedSize.width * source.storedSize.height
    }

    func ofBeginnings(
        _ cancellation: CancellationFlag, _ missing: MissingPixels
    ) -> any FormatDecoder {
        PartialWebP(cancellation, missing)
    }
}
