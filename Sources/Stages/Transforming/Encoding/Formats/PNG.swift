import ImageModel
import PNGFilters
import StageContract
import Vips

/// PNG: by libdeflate, which is several times as fast as zlib, but compresses all at once and
/// cannot be stopped; so images for which that takes long are left to libvips.
struct PNGFormatEncoder: FormatEncoder {
    let format = ImageFormat.png

    func estimate(_ size: PixelSize, bands: Int, _ order: EncodingOrder) -> Int {
        size.width * size.height * bands / 2
    }

    func encode(
        _ image: VipsImage, _ order: EncodingOrder, to writer: BlockWriter<some OutputSpace>
    ) throws -> Bool {
        let header = image.header
        let level = order.options.compression ?? (order.isPhotograph ? 1 : 6)
        guard header.width * header.height * header.bands <= Self.bytesAtOnce(level) else {
            let zlib = min(level, 9)
            try image.save(
                order.isPhotograph
                    ? .png(compression: zlib, filter: .sub) : .png(compression: zlib)
            ) { writer.append($0) }
            return header.hasAlpha
        }
        let png = PNGWriter(
            size: PixelSize(width: header.width, height: header.height), bands: header.bands,
            filter: order.isPhotograph ? .adaptive : .none, level: level,
            cancellation: order.cancellation)
        try image.withPixels { pixels throws(VipsError) in
            Result { try png.write(pixels, to: writer) }
        }.get()
        return header.hasAlpha
    }

    /// Bytes of pixels that take 40 ms, or of the highest levels 150 ms.
    private static func bytesAtOnce(_ level: Int) -> Int {
        switch level {
        case ...3: 8 << 20
        case ...7: 2 << 20
        default: 1 << 20
        }
    }
}
