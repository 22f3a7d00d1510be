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
        let palette = palette(order.options)
        let isPlain = palette == nil && !order.options.isProgressive
        let bytes = header.width * header.height * header.bands * header.bytesPerBand
        guard isPlain, bytes <= Self.bytesAtOnce(level) else {
            // Indexes of a palette are no tones: there is nothing to filter.
            let isFiltered = order.isPhotograph && palette == nil
            try image.save(
                .png(
                    compression: min(level, 9), filter: isFiltered ? .sub : .none,
                    interlaced: order.options.isProgressive, palette: palette)
            ) { writer.append($0) }
            try addColours(order.samples, to: writer)
            return palette == nil ? header.hasAlpha : PNGChunks.haveTransparency(writer.bytes)
        }
        let png = PNGWriter(
            size: PixelSize(width: header.width, height: header.height), bands: header.bands,
            bytesPerBand: header.bytesPerBand,
            filter: order.isPhotograph ? .adaptive : .none, level: level,
            cancellation: order.cancellation)
        try image.withPixels { pixels throws(VipsError) in
            Result { try png.write(pixels, to: writer) }
        }.get()
        try addColours(order.samples, to: writer)
        return header.hasAlpha
    }

    /// The numbers of a high dynamic range.
    private func addColours(
        _ samples: SampleForm, to writer: BlockWriter<some OutputSpace>
    ) throws {
        guard let hdr = samples.hdr else { return }
        guard writer.insert(PNGEnclosures.of(hdr), at: PNGEnclosures.place) else {
            throw ImageError.noRoom
        }
    }

    func enclose(_ parts: EnclosedParts, in writer: BlockWriter<some OutputSpace>) throws {
        guard !parts.isEmpty else { return }
        guard writer.insert(try PNGEnclosures.of(parts), at: PNGEnclosures.place) else {
            throw ImageError.noRoom
        }
    }

    /// At most so many colours as are asked for, of which a PNG has 2, 4, 16 or 256.
    private func palette(_ options: OutputOptions) -> VipsEncoding.Palette? {
        guard let colours = options.colours else { return nil }
        let bits = [8, 4, 2, 1].first { 1 << $0 <= colours } ?? 1
        return VipsEncoding.Palette(
            bits: bits, quality: options.quality ?? 100, dither: Double(options.dither) / 100)
    }

    /// Bytes of pixels that take 40 ms, or of the highest levels 150 ms.
    static func bytesAtOnce(_ level: Int) -> Int {
        switch level {
        case ...3: 8 << 20
        case ...7: 2 << 20
        default: 1 << 20
        }
    }
}
