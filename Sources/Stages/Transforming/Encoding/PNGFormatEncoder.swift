import Deflate
import Model
import PNGFilters
import Vips

/// PNG with libdeflate, which is several times as fast as zlib but compresses everything in one
/// call that can't be canceled; images that would take long are encoded by libvips.
struct PNGFormatEncoder: FormatEncoder {
    let format = ImageFormat.png

    func estimate(_ size: PixelSize, bands: Int, _ spec: EncodingSpecification) -> Int {
        size.width * size.height * bands / 2
    }

    func encode(
        _ image: VipsImage, _ spec: EncodingSpecification, to writer: BlockWriter
    ) throws -> Bool {
        let header = image.header
        let level = level(spec)
        let palette = palette(spec.options)
        let isPlain = palette == nil && !spec.options.isProgressive
        let bytes = header.width * header.height * header.bands * header.bytesPerBand
        if isPlain, bytes <= Self.bytesAtOnce(level) {
            var png = PNGWriter(
                size: header.size, bands: header.bands, bytesPerBand: header.bytesPerBand, spec,
                to: writer)
            try image.withMemory {
                try png.begin()
                try png.pixels($0, of: PixelRect(x: 0, y: 0, size: header.size), level: level)
                try png.chunk("IEND", [])
            }
        } else {
            // Palette indexes aren't continuous, so filters don't help.
            let isFiltered = spec.isPhotograph && palette == nil
            try image.save(
                .png(
                    compression: min(level, 9), filter: isFiltered ? .sub : .none,
                    interlaced: spec.options.isProgressive, palette: palette), to: writer)
        }
        if let hdr = spec.samples.hdr {
            try writer.insert(PNGEmbeddedMetadata.of(hdr), at: PNGEmbeddedMetadata.place)
        }
        return palette == nil ? header.hasAlpha : PNGChunks.haveTransparency(writer.bytes)
    }

    func embed(_ parts: EmbeddedParts, in writer: BlockWriter) throws {
        guard !parts.isEmpty else { return }
        try writer.insert(PNGEmbeddedMetadata.of(parts), at: PNGEmbeddedMetadata.place)
    }

    private func level(_ spec: EncodingSpecification) -> Int {
        spec.options.compression ?? (spec.isPhotograph ? 1 : 6)
    }

    /// Returns a palette with at most the requested number of colors; PNG supports 2, 4, 16 or 256.
    private func palette(_ options: OutputOptions) -> VipsEncoding.Palette? {
        guard let colors = options.colors else { return nil }
        let bits = [8, 4, 2, 1].first { 1 << $0 <= colors } ?? 1
        return VipsEncoding.Palette(
            bits: bits, quality: options.quality ?? 100, dither: Double(options.dither) / 100)
    }

    /// Returns the number of pixel bytes that take 40 ms to compress, or 150 ms at the highest
    /// levels.
    static func bytesAtOnce(_ level: Int) -> Int {
        switch level {
        case ...3: 8 << 20
        case ...7: 2 << 20
        default: 1 << 20
        }
    }
}

/// Parses the chunks of a PNG that was just written (PNG 1.2, chapter 3).
enum PNGChunks {
    /// Returns whether its palette has a color that isn't opaque; otherwise the encoder omits
    /// alpha.
    static func haveTransparency(_ bytes: UnsafeRawBufferPointer) -> Bool {
        let header = 8
        var offset = header
        while offset + 8 <= bytes.count {
            let type = bytes[(offset + 4)..<(offset + 8)]
            if type.elementsEqual("tRNS".utf8) { return true }
            if type.elementsEqual("IDAT".utf8) { return false }
            let length = bytes.loadUnaligned(fromByteOffset: offset, as: UInt32.self).bigEndian
            offset += Int(length) + 12
        }
        return false
    }
}

/// Writes a PNG (PNG 1.2), or an animated one, chunk by chunk.
struct PNGWriter {
    private let size: PixelSize
    /// 1 for gray, 2 for gray and alpha, 3 for sRGB, 4 for sRGB and alpha.
    private let bands: Int
    /// 1, or 2 in native byte order.
    private let bytesPerBand: Int
    private let filter: PNGFilter
    private let cancellation: CancellationFlag
    private let writer: BlockWriter
    private var written = 0

    private static let signature: [UInt8] = [0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A]
    /// The size of a chunk's length, type and checksum.
    private static let chunkBytes = 12

    init(
        size: PixelSize, bands: Int, bytesPerBand: Int = 1, _ spec: EncodingSpecification,
        to writer: BlockWriter
    ) {
        (self.size, self.bands, self.bytesPerBand) = (size, bands, bytesPerBand)
        filter = spec.isPhotograph ? .adaptive : .none
        (cancellation, self.writer) = (spec.cancellation, writer)
    }

    /// Writes the signature and the header.
    mutating func begin() throws {
        let colorType: [UInt8] = [0, 4, 2, 6]
        let header =
            Self.big(size.width) + Self.big(size.height)
            + [UInt8(8 * bytesPerBand), colorType[bands - 1], 0, 0, 0]
        try append(Self.signature + CRC32.pngChunk("IHDR", header))
    }

    mutating func chunk(_ type: String, _ data: [UInt8]) throws {
        try append(CRC32.pngChunk(type, data))
    }

    /// Writes a chunk with an area of the image, filtered and compressed.
    ///
    /// - Parameters:
    ///   - pixels: All pixels, in rows without padding.
    ///   - number: Bytes before the compressed ones.
    ///   - level: The libdeflate level, 1 to 12.
    mutating func pixels(
        _ pixels: UnsafeRawBufferPointer, of area: PixelRect, as type: String = "IDAT",
        after number: [UInt8] = [], level: Int
    ) throws {
        let step = bands * bytesPerBand
        let (row, stride) = (area.size.width * step, size.width * step)
        let filtered = UnsafeMutableRawBufferPointer.allocate(
            byteCount: (row + 1) * area.size.height, alignment: 64)
        defer { filtered.deallocate() }
        let ordered = bytesPerBand == 2 ? Self.bigEndianSamples(of: pixels) : nil
        defer { ordered?.deallocate() }
        let samples = ordered.map { UnsafeRawBufferPointer($0) } ?? pixels
        filter.apply(
            to: UnsafeRawBufferPointer(rebasing: samples[(area.y * stride + area.x * step)...]),
            above: nil, count: area.size.height, columns: row, stride: stride, step: step,
            into: filtered)
        if cancellation.isCancelled { throw ImageError.cancelled }
        let compressor = try ZlibCompressor(level: level)
        let bound = compressor.bound(filtered.count)
        let head = Array(type.utf8) + number
        // The last chunk fits behind it without another allocation.
        guard let memory = writer.next(bound + number.count + 2 * Self.chunkBytes) else {
            throw ImageError.noRoom
        }
        let target = UnsafeMutableRawBufferPointer(rebasing: memory[(4 + head.count)...])
        guard
            let count = compressor.compress(
                UnsafeRawBufferPointer(filtered),
                into: UnsafeMutableRawBufferPointer(rebasing: target.prefix(bound)))
        else { throw ImageError(.internalError, "libdeflate exceeded its own bound") }
        memory.copyBytes(from: Self.big(number.count + count) + head)
        let signed = UnsafeRawBufferPointer(rebasing: memory[4..<(4 + head.count + count)])
        UnsafeMutableRawBufferPointer(rebasing: target[count...])
            .copyBytes(from: Self.big(Int(CRC32.of(signed))))
        written += number.count + count + Self.chunkBytes
        writer.written(written)
    }

    private mutating func append(_ bytes: [UInt8]) throws {
        guard let memory = writer.next(bytes.count) else { throw ImageError.noRoom }
        memory.copyBytes(from: bytes)
        written += bytes.count
        writer.written(written)
    }

    /// Returns a copy with big-endian samples.
    private static func bigEndianSamples(
        of pixels: UnsafeRawBufferPointer
    ) -> UnsafeMutableRawBufferPointer {
        let copy = UnsafeMutableRawBufferPointer.allocate(byteCount: pixels.count, alignment: 64)
        let (source, target) = (
            pixels.assumingMemoryBound(to: UInt16.self), copy.bindMemory(to: UInt16.self)
        )
        for index in source.indices {
            target.initializeElement(at: index, to: source[index].bigEndian)
        }
        return copy
    }

    static func big(_ number: Int) -> [UInt8] {
        withUnsafeBytes(of: UInt32(number).bigEndian) { Array($0) }
    }
}

/// Animated PNG (PNG specification, third edition, 4.9): 8-bit RGBA, and for each frame only the
/// changed area.
extension PNGFormatEncoder {
    func encode(
        _ frames: StepFrames, _ spec: EncodingSpecification, to writer: BlockWriter
    ) throws -> Bool {
        guard spec.options.colors == nil, !spec.options.isProgressive else {
            throw ImageError.step(
                "encode",
                "an animated png supports neither a palette nor interlacing: leave out colors and "
                    + "progressive")
        }
        let (big, wanted) = (PNGWriter.big, level(spec))
        var png = PNGWriter(size: frames.size, bands: StepFrames.bands, spec, to: writer)
        try png.begin()
        try png.chunk(
            "acTL", big(frames.count) + big(frames.times.plays(atMost: Int(Int32.max))))
        var (before, sequence): ([UInt8], Int) = ([], 0)
        for index in 0..<frames.count {
            try frames.withPixels(of: index) { pixels in
                if spec.cancellation.isCancelled { throw ImageError.cancelled }
                let area = before.withUnsafeBytes { before in
                    ChangedArea.of(pixels, before: before, frames.size)
                }
                try png.chunk("fcTL", control(area, index, sequence, frames.times))
                let bytes = (StepFrames.bands * area.size.width + 1) * area.size.height
                // Compressing a frame can't be canceled, so a large one uses a lower level.
                let level = [wanted, 6, 1].first {
                    $0 <= wanted && bytes <= Self.bytesAtOnce($0)
                }
                try png.pixels(
                    pixels, of: area, as: index == 0 ? "IDAT" : "fdAT",
                    after: index == 0 ? [] : big(sequence + 1), level: level ?? 1)
                sequence += index == 0 ? 1 : 2
                before = Array(pixels)
            }
        }
        try png.chunk("IEND", [])
        return true
    }

    /// Size, position and duration; the area replaces the previous contents and isn't disposed.
    private func control(
        _ area: PixelRect, _ index: Int, _ sequence: Int, _ times: FrameTimes
    ) -> [UInt8] {
        let (numerator, denominator) = times.fraction(index)
        let numbers = [sequence, area.size.width, area.size.height, area.x, area.y]
        return numbers.flatMap(PNGWriter.big) + PNGWriter.big(numerator).suffix(2)
            + PNGWriter.big(denominator).suffix(2) + [0, 0]
    }
}

/// The area in which a frame differs from the previous one.
enum ChangedArea {
    /// Returns the smallest area with all changes, at least one pixel; the whole image if there is
    /// no previous one. Both images are RGBA with rows without padding.
    static func of(
        _ pixels: UnsafeRawBufferPointer, before: UnsafeRawBufferPointer, _ size: PixelSize
    ) -> PixelRect {
        guard before.count == pixels.count else { return PixelRect(x: 0, y: 0, size: size) }
        let (new, old) = (
            pixels.bindMemory(to: UInt32.self), before.bindMemory(to: UInt32.self)
        )
        var (left, right, top, bottom) = (size.width, -1, size.height, -1)
        for y in 0..<size.height {
            let row = y * size.width
            guard let first = (0..<size.width).first(where: { new[row + $0] != old[row + $0] }),
                let last = (0..<size.width).last(where: { new[row + $0] != old[row + $0] })
            else { continue }
            (left, right) = (min(left, first), max(right, last))
            (top, bottom) = (min(top, y), y)
        }
        guard bottom >= 0 else {
            return PixelRect(x: 0, y: 0, size: PixelSize(width: 1, height: 1))
        }
        return PixelRect(
            x: left, y: top,
            size: PixelSize(width: right - left + 1, height: bottom - top + 1))
    }
}

/// Profile and metadata as PNG chunks (PNG 1.2 and its third edition, 11.3). There is no chunk for
/// IPTC.
enum PNGEmbeddedMetadata {
    /// After the signature and IHDR, before all other chunks.
    static let place = 33

    static func of(_ parts: EmbeddedParts) throws -> [UInt8] {
        var chunks: [UInt8] = []
        if !parts.profile.isEmpty {
            let name = Array("ICC profile\0".utf8)
            chunks += CRC32.pngChunk("iCCP", try name + [0] + compressed(parts.profile))
        }
        return chunks + CRC32.pngChunks(exif: parts.exif, xmp: parts.xmp)
    }

    /// Returns full-range RGB with the codes of ITU-T H.273 (third edition, 11.3.2.6).
    static func of(_ hdr: HDRColors) -> [UInt8] {
        CRC32.pngChunk("cICP", [hdr.primaries.rawValue, hdr.transfer.rawValue, 0, 1])
    }

    private static func compressed(_ bytes: [UInt8]) throws -> [UInt8] {
        let compressor = try ZlibCompressor(level: 6)
        return try [UInt8](unsafeUninitializedCapacity: compressor.bound(bytes.count)) {
            target, count in
            let written = bytes.withUnsafeBytes {
                compressor.compress($0, into: UnsafeMutableRawBufferPointer(target))
            }
            guard let written else {
                throw ImageError(.internalError, "libdeflate exceeded its own bound")
            }
            count = written
        }
    }
}
