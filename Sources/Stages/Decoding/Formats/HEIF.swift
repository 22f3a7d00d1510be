import ImageModel
import Messages
import StageContract
import Vips

/// HEIC, AVIF and other images of the HEIF family: the primary image of the file. An AVIF image
/// sequence may have none: then it is the first frame.
struct HEIFDecoder: LoaderDecoder {
    let format: ImageFormat
    let loader = VipsLoader.heif
    let turnsPixels = true

    func header(_ bytes: UnsafeRawBufferPointer) throws(VipsError) -> VipsImage {
        guard let frame = onlyFrame(of: bytes) else { return try .load(bytes, by: loader) }
        return try frame.header(bytes)
    }

    func open(
        _ bytes: UnsafeRawBufferPointer, at scale: DecodeScale
    ) throws(VipsError) -> VipsImage {
        guard let frame = onlyFrame(of: bytes) else { return try .load(bytes, by: loader) }
        return try frame.open(bytes, at: scale)
    }

    /// The first frame, where there is no other image.
    private func onlyFrame(of bytes: UnsafeRawBufferPointer) -> AVIFFrame? {
        let file = HeaderBytes(Span(_unsafeBytes: bytes))
        guard format == .avif, !file.hasPrimaryItem, let sequence = file.avifSequence else {
            return nil
        }
        return AVIFFrame(of: AVIFFrames(sequence.main.size), 0, CancellationFlag())
    }

    /// Those that AV1 has coded. libheif, as Debian has it, gives no planes: it converts each image
    /// to RGB before it hands it out.
    func planes(
        of source: SourceImage, at scale: DecodeScale, limits: ImageLimits
    ) -> (any PlanarImage & ~Copyable)? {
        guard format.traits.input?.hasPlanes == true else { return nil }
        return AVIFPlanes(source, limits: limits)
    }
}
