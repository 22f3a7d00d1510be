import ImageModel
import StageContract
import Vips

/// JPEG XL, by libvips, which writes a profile and no metadata.
struct JXLFormatEncoder: FormatEncoder {
    let format = ImageFormat.jxl

    /// Below, libjxl has no distance for what libvips makes of a quality.
    private static let qualityMin = 5

    func encode(
        _ image: VipsImage, _ order: EncodingOrder, to writer: BlockWriter<some OutputSpace>
    ) throws -> Bool {
        let profile = order.enclosed.profile
        try image.enclosing(profile: profile, xmp: []).save(
            .jxl(
                quality: max(Self.qualityMin, order.quality),
                lossless: order.options.isWithoutLoss, effort: order.effort(format),
                encloses: !profile.isEmpty)
        ) { writer.append($0) }
        return image.header.hasAlpha
    }
}
