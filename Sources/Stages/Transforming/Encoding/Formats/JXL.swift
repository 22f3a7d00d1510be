import ImageModel
import StageContract
import Vips

/// JPEG XL, by libvips.
struct JXLFormatEncoder: FormatEncoder {
    let format = ImageFormat.jxl

    /// Below, libjxl has no distance for what libvips makes of a quality.
    private static let qualityMin = 5

    func encode(
        _ image: VipsImage, _ order: EncodingOrder, to writer: BlockWriter<some OutputSpace>
    ) throws -> Bool {
        try image.save(
            .jxl(
                quality: max(Self.qualityMin, order.quality),
                lossless: order.options.isWithoutLoss, effort: order.effort(format))
        ) { writer.append($0) }
        return image.header.hasAlpha
    }
}
