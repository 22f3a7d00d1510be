import ImageModel
import StageContract
import Vips

/// Pixels as they are, behind a header of text: computed straight to where clients map them.
struct PAMFormatEncoder: FormatEncoder {
    let format = ImageFormat.pam

    func estimate(_ size: PixelSize, bands: Int, _ order: EncodingOrder) -> Int {
        PixelMapHeader.byteCount + size.width * size.height * bands
    }

    func encode(
        _ image: VipsImage, _ order: EncodingOrder, to writer: BlockWriter<some OutputSpace>
    ) throws -> Bool {
        let header = PixelMapHeader(
            size: PixelSize(width: image.header.width, height: image.header.height),
            bands: image.header.bands)
        guard let samples = header.sampleCount else {
            throw ImageError.over("pixelsMax", "encode", "\(header.size) is too large for pam")
        }
        let count = PixelMapHeader.byteCount + samples
        guard let bytes = writer.next(count) else {
            throw ImageError(.internalError, "there is no space for the pixels")
        }
        bytes.copyBytes(from: header.bytes)
        let pixels = UnsafeMutableRawBufferPointer(
            rebasing: bytes[PixelMapHeader.byteCount..<count])
        try image.write(to: pixels)
        writer.written(count)
        return image.header.hasAlpha
    }
}
