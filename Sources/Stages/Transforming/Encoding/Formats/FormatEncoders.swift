import ImageModel
import Vips

/// All formats that are encoded.
enum FormatEncoders {
    static let all: [any FormatEncoder] = [
        JPEGFormatEncoder(), PNGFormatEncoder(), GIFFormatEncoder(), TIFFFormatEncoder(),
        WebPFormatEncoder(), AVIFFormatEncoder(), JXLFormatEncoder(), PAMFormatEncoder(),
    ]

    /// What libvips may open: what was written as WebP is read again.
    static let loaders = [VipsLoader.webp]

    /// What it may write besides, of what it does not trust itself.
    static let savers = [VipsSaver.jxl]

    static func encoder(of format: ImageFormat) throws(ImageError) -> any FormatEncoder {
        guard let encoder = all.first(where: { $0.format == format }) else {
            throw .notEncoded(format)
        }
        return encoder
    }
}
