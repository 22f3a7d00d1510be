import ImageModel
import Messages
import Vips

/// HEIC, AVIF and other images of the HEIF family: the primary image of the file.
struct HEIFDecoder: LoaderDecoder {
    let format: ImageFormat
    let loader = VipsLoader.heif
    let turnsPixels = true

    /// Those that AV1 has coded. libheif, as Debian has it, gives no planes: it converts each image
    /// to RGB before it hands it out.
    func planes(
        of source: SourceImage, at scale: DecodeScale, limits: ImageLimits
    ) -> (any PlanarImage & ~Copyable)? {
        guard format.traits.input?.hasPlanes == true else { return nil }
        return AVIFPlanes(source, limits: limits)
    }
}
