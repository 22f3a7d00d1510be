import ImageModel
import StageContract
import Vips

/// TIFF, by libvips: one page, deflated, every sample as it is.
struct TIFFFormatEncoder: FormatEncoder {
    let format = ImageFormat.tiff

    func estimate(_ size: PixelSize, bands: Int, _ order: EncodingOrder) -> Int {
        size.width * size.height * bands / 2
    }

    func encode(
        _ image: VipsImage, _ order: EncodingOrder, to writer: BlockWriter<some OutputSpace>
    ) throws -> Bool {
        try image.save(.tiff(predicts: order.isPhotograph)) { writer.append($0) }
        return image.header.hasAlpha
    }
}
