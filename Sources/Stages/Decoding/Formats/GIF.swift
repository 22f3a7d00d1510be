import ImageModel
import StageContract
import Vips

/// GIF, the first frame of it.
struct GIFDecoder: LoaderDecoder {
    let format = ImageFormat.gif
    let loader = VipsLoader.gif

    func open(
        _ bytes: UnsafeRawBufferPointer, at scale: DecodeScale
    ) throws(VipsError) -> VipsImage {
        try .gif(bytes)
    }

    func ofBeginnings(_ cancellation: CancellationFlag) -> any FormatDecoder {
        PartialGIF()
    }
}
