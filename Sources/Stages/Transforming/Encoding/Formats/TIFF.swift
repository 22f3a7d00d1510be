import ImageModel
import StageContract
import Vips

/// TIFF, by libvips: one page, deflated, every sample as it is. libvips writes no EXIF, and of
/// IPTC a quarter, so none is handed to it.
struct TIFFFormatEncoder: FormatEncoder {
    let format = ImageFormat.tiff

    func estimate(_ size: PixelSize, bands: Int, _ order: EncodingOrder) -> Int {
        size.width * size.height * bands / 2
    }

    func encode(
        _ image: VipsImage, _ order: EncodingOrder, to writer: BlockWriter<some OutputSpace>
    ) throws -> Bool {
        let parts = order.enclosed
        try image.enclosing(profile: parts.profile, xmp: parts.xmp).save(
            .tiff(predicts: order.isPhotograph, encloses: !parts.isEmpty)
        ) { writer.append($0) }
        return image.header.hasAlpha
    }
}
