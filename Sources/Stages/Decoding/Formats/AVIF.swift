import ImageModel
import Messages
import StageContract
import Vips

/// AVIF, by libavif: of a sequence the first frame, of any other file the primary image.
struct AVIFDecoder: FormatDecoder {
    let format = ImageFormat.avif
    let loaders: [VipsLoader] = []
    let turnsPixels = true

    func header(_ bytes: UnsafeRawBufferPointer) throws(VipsError) -> VipsImage {
        try image(of: bytes).header(bytes)
    }

    func open(
        _ bytes: UnsafeRawBufferPointer, at scale: DecodeScale
    ) throws(VipsError) -> VipsImage {
        try image(of: bytes).open(bytes, at: scale)
    }

    private func image(of bytes: UnsafeRawBufferPointer) -> AVIFFrame {
        AVIFFrame(of: .still(of: bytes), 0, CancellationFlag())
    }

    /// Those that AV1 has coded.
    func planes(
        of source: SourceImage, at scale: DecodeScale, limits: ImageLimits
    ) -> (any PlanarImage & ~Copyable)? {
        AVIFPlanes(source, limits: limits)
    }
}
