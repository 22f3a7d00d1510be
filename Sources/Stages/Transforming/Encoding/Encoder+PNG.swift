import ImageModel
import PNGFilters
import StageContract
import Vips

extension Encoder {
    /// A PNG: by libdeflate, which is several times as fast as zlib, but compresses all at once and
    /// cannot be stopped; so pictures for which that takes long are left to libvips.
    func encodePNG(_ image: VipsImage, to writer: BlockWriter<some OutputSpace>) throws {
        let header = image.header
        let level = options.compression ?? (isPhotograph ? 1 : 6)
        guard header.width * header.height * header.bands <= Self.bytesAtOnce(level) else {
            let zlib = min(level, 9)
            return try image.save(
                isPhotograph ? .png(compression: zlib, filter: .sub) : .png(compression: zlib)
            ) { writer.append($0) }
        }
        let png = PNGWriter(
            size: PixelSize(width: header.width, height: header.height), bands: header.bands,
            filter: isPhotograph ? .adaptive : .none, level: level, cancellation: cancellation)
        try image.withPixels { pixels throws(VipsError) in
            Result { try png.write(pixels, to: writer) }
        }.get()
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
