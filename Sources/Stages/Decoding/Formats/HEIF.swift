import ImageModel
import Messages
import StageContract
import Vips

/// HEIC and other images of the HEIF family, by libheif: the primary image of the file. Those that
/// are an AVIF, whatever their major brand is, are decoded as such.
struct HEIFDecoder: LoaderDecoder {
    let format: ImageFormat
    let loader = VipsLoader.heif
    let turnsPixels = true

    func header(_ bytes: UnsafeRawBufferPointer) throws(VipsError) -> VipsImage {
        if let avif = avif(bytes) { return try avif.header(bytes) }
        return try .load(bytes, by: loader)
    }

    func open(
        _ bytes: UnsafeRawBufferPointer, at scale: DecodeScale
    ) throws(VipsError) -> VipsImage {
        if let avif = avif(bytes) { return try avif.open(bytes, at: scale) }
        return try .load(bytes, by: loader)
    }

    /// Nil for what libavif does not read, such as an image of HEVC.
    private func avif(_ bytes: UnsafeRawBufferPointer) -> AVIFDecoder? {
        guard HeaderBytes(Span(_unsafeBytes: bytes)).hasAVIFBrand else { return nil }
        let decoder = AVIFDecoder()
        return (try? decoder.header(bytes)) == nil ? nil : decoder
    }

    /// libheif, as Debian has it, gives none: it converts each image to RGB.
    func planes(
        of source: SourceImage, at scale: DecodeScale, limits: ImageLimits
    ) -> (any PlanarImage & ~Copyable)? {
        guard format.traits.input?.hasPlanes == true else { return nil }
        return avif(source.bytes)?.planes(of: source, at: scale, limits: limits)
    }
}
