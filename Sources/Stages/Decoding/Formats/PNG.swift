import ImageModel
import StageContract
import Vips

/// PNG; of an animated one the default image.
struct PNGDecoder: LoaderDecoder {
    let format = ImageFormat.png
    let loader = VipsLoader.png

    func open(
        _ bytes: UnsafeRawBufferPointer, at scale: DecodeScale
    ) throws(VipsError) -> VipsImage {
        try .checkedPNG(bytes)
    }

    func ofBeginnings(
        _ cancellation: CancellationFlag, _ missing: MissingPixels
    ) -> any FormatDecoder {
        PartialPNG(cancellation, missing)
    }
}

extension VipsImage {
    /// A PNG whose chunks lie in the file: libvips' reader takes memory for what they say.
    static func checkedPNG(_ bytes: UnsafeRawBufferPointer) throws(VipsError) -> VipsImage {
        guard HeaderBytes(Span(_unsafeBytes: bytes)).pngChunkBeyondEnd == nil else {
            throw VipsError(kind: .corrupt, operation: "png", text: "a chunk beyond the end")
        }
        InflatedBytes.permit(bytes)
        return try .png(bytes)
    }
}
