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
        _ image: VipsImage, _ spec: EncodingSpecification, to writer: BlockWriter<some OutputSpace>
    ) throws -> Bool {
        let header = image.header
        let level = spec.options.compression ?? (spec.isPhotograph ? 1 : 6)
        let palette = palette(spec.options)
        let isPlain = palette == nil && !spec.options.isProgressive
        let bytes = header.width * header.height * header.bands * header.bytesPerBand
        guard isPlain, bytes <= Self.bytesAtOnce(level) else {
            // Palette indexes aren't continuous, so filters don't help.
            let isFiltered = spec.isPhotograph && palette == nil
            try image.save(
                .png(
                    compression: min(level, 9), filter: isFiltered ? .sub : .none,
                    interlaced: spec.options.isProgressive, palette: palette)
            ) { writer.append($0) }
            try addColors(spec.samples, to: writer)
            return palette == nil ? header.hasAlpha : PNGChunks.haveTransparency(writer.bytes)
        }
        let png = PNGWriter(
            size: header.size, bands: header.bands, bytesPerBand: header.bytesPerBand,
            filter: spec.isPhotograph ? .adaptive : .none, level: level,
            cancellation: spec.cancellation)
        try image.withMemory { try png.write($0, to: writer) }
        try addColors(spec.samples, to: writer)
        return header.hasAlpha
    }

    /// Adds the color information of high dynamic range.
    private func addColors(
        _ samples: SampleForm, to writer: BlockWriter<some OutputSpace>
    ) throws {
        guard let hdr = samples.hdr else { return }
        guard writer.insert(PNGEmbeddedMetadata.of(hdr), at: PNGEmbeddedMetadata.place) else {
            throw ImageError.noRoom
        }
    }

    func embed(_ parts: EmbeddedParts, in writer: BlockWriter<some OutputSpace>) throws {
        guard !parts.isEmpty else { return }
        guard writer.insert(try PNGEmbeddedMetadata.of(parts), at: PNGEmbeddedMetadata.place) else {
            throw ImageError.noRoom
        }
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

/// Writes a PNG (PNG 1.2): one IHDR, one IDAT, one IEND.
struct PNGWriter {
    let size: PixelSize
    /// 1 for gray, 2 for gray and alpha, 3 for sRGB, 4 for sRGB and alpha.
    let bands: Int
    /// 1, or 2 in native byte order.
    let bytesPerBand: Int
    let filter: PNGFilter
    /// The libdeflate level, 1 to 12.
    let level: Int
    let cancellation: CancellationFlag

    static let signature: [UInt8] = [0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A]
    private static let headerBytes = 13

    /// - Parameter pixels: rows without padding.
    func write(
        _ pixels: UnsafeRawBufferPointer, to writer: BlockWriter<some OutputSpace>
    ) throws {
        let row = size.width * bands * bytesPerBand
        let filtered = UnsafeMutableRawBufferPointer.allocate(
            byteCount: (row + 1) * size.height, alignment: 64)
        defer { filtered.deallocate() }
        let ordered = bytesPerBand == 2 ? Self.bigEndianSamples(of: pixels) : nil
        defer { ordered?.deallocate() }
        filter.apply(
            to: ordered.map { UnsafeRawBufferPointer($0) } ?? pixels, above: nil,
            count: size.height, columns: row, stride: row, step: bands * bytesPerBand,
            into: filtered)
        if cancellation.isCancelled { throw ImageError.cancelled }
        let compressor = try ZlibCompressor(level: level)
        let bound = compressor.bound(filtered.count)
        let overhead = Self.signature.count + Self.headerBytes + 3 * PNGChunkWriter.overhead
        guard let memory = writer.next(overhead + bound) else { throw ImageError.cancelled }
        var chunks = PNGChunkWriter(memory)
        chunks.append(Self.signature)
        chunks.chunk("IHDR", header)
        try chunks.chunk("IDAT") { target in
            guard
                let count = compressor.compress(
                    UnsafeRawBufferPointer(filtered),
                    into: UnsafeMutableRawBufferPointer(rebasing: target.prefix(bound)))
            else { throw ImageError(.internalError, "libdeflate exceeded its own bound") }
            return count
        }
        chunks.chunk("IEND", [])
        writer.written(chunks.count)
    }

    private var header: [UInt8] {
        let colorType: [UInt8] = [0, 4, 2, 6]
        return Self.bigEndian(size.width) + Self.bigEndian(size.height)
            + [UInt8(8 * bytesPerBand), colorType[bands - 1], 0, 0, 0]
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

    static func bigEndian(_ number: Int) -> [UInt8] {
        withUnsafeBytes(of: UInt32(number).bigEndian) { Array($0) }
    }
}

/// Writes PNG chunks to memory.
struct PNGChunkWriter {
    /// The size of a chunk's length, type and checksum.
    static let overhead = 12

    private let memory: UnsafeMutableRawBufferPointer
    private(set) var count = 0

    /// `memory` must have space for everything that will be written.
    init(_ memory: UnsafeMutableRawBufferPointer) { self.memory = memory }

    mutating func append(_ bytes: [UInt8]) {
        UnsafeMutableRawBufferPointer(rebasing: memory[count...]).copyBytes(from: bytes)
        count += bytes.count
    }

    mutating func chunk(_ type: String, _ data: [UInt8]) {
        append(CRC32.pngChunk(type, data))
    }

    /// Writes a chunk; `body` writes its data and returns the number of bytes.
    mutating func chunk(
        _ type: String, _ body: (UnsafeMutableRawBufferPointer) throws -> Int
    ) throws {
        let start = count
        append([0, 0, 0, 0] + Array(type.utf8))
        let length = try body(UnsafeMutableRawBufferPointer(rebasing: memory[count...]))
        count += length
        UnsafeMutableRawBufferPointer(rebasing: memory[start...])
            .copyBytes(from: PNGWriter.bigEndian(length))
        sign(from: start + 4)
    }

    private mutating func sign(from start: Int) {
        let signed = UnsafeRawBufferPointer(rebasing: UnsafeRawBufferPointer(memory)[start..<count])
        append(PNGWriter.bigEndian(Int(CRC32.of(signed))))
    }
}

/// Animated PNG (PNG specification, third edition, 4.9): 8-bit RGBA, and for each frame only the
/// changed area.
extension PNGFormatEncoder {
    func encode(
        _ frames: StepFrames, _ spec: EncodingSpecification,
        to writer: BlockWriter<some OutputSpace>
    ) throws -> Bool {
        guard spec.options.colors == nil, !spec.options.isProgressive else {
            throw ImageError.step(
                "encode",
                "an animated png supports neither a palette nor interlacing: leave out colors and "
                    + "progressive")
        }
        var png = AnimatedPNGWriter(
            frames: frames, filter: spec.isPhotograph ? .adaptive : .none,
            level: spec.options.compression ?? (spec.isPhotograph ? 1 : 6), writer: writer)
        try png.begin()
        var before: [UInt8] = []
        for index in 0..<frames.count {
            try frames.withPixels(of: index) { pixels in
                if spec.cancellation.isCancelled { throw ImageError.cancelled }
                let area = before.withUnsafeBytes { before in
                    ChangedArea.of(pixels, before: before, frames.size)
                }
                try png.add(pixels, area, at: index)
                before = Array(pixels)
            }
        }
        try png.end()
        return true
    }
}

/// Writes the chunks of frames one after the other.
private struct AnimatedPNGWriter<Space: OutputSpace> {
    let frames: StepFrames
    let filter: PNGFilter
    /// The libdeflate level, 1 to 12.
    let level: Int
    let writer: BlockWriter<Space>
    private var sequence = 0
    private var written = 0

    init(frames: StepFrames, filter: PNGFilter, level: Int, writer: BlockWriter<Space>) {
        (self.frames, self.filter, self.level, self.writer) = (frames, filter, level, writer)
    }

    mutating func begin() throws {
        let header = Self.big(frames.size.width) + Self.big(frames.size.height) + [8, 6, 0, 0, 0]
        let plays = frames.times.plays(atMost: Int(Int32.max))
        let counts = Self.big(frames.count) + Self.big(plays)
        try append(128) { chunks in
            chunks.append(PNGWriter.signature)
            chunks.chunk("IHDR", header)
            chunks.chunk("acTL", counts)
        }
    }

    /// Adds a frame whose area replaces the previous contents.
    mutating func add(_ pixels: UnsafeRawBufferPointer, _ area: PixelRect, at index: Int) throws {
        let row = StepFrames.bands * area.size.width
        let filtered = UnsafeMutableRawBufferPointer.allocate(
            byteCount: (row + 1) * area.size.height, alignment: 64)
        defer { filtered.deallocate() }
        let start = StepFrames.bands * (area.y * frames.size.width + area.x)
        filter.apply(
            to: UnsafeRawBufferPointer(rebasing: pixels[start...]), above: nil,
            count: area.size.height, columns: row, stride: StepFrames.bands * frames.size.width,
            step: StepFrames.bands, into: filtered)
        let compressor = try ZlibCompressor(level: Self.level(level, filtered.count))
        let bound = compressor.bound(filtered.count)
        let control = control(area, index)
        let number = index == 0 ? [] : Self.big(sequence + 1)
        try append(bound + 128) { chunks in
            chunks.chunk("fcTL", control)
            try chunks.chunk(index == 0 ? "IDAT" : "fdAT") { target in
                target.copyBytes(from: number)
                let room = UnsafeMutableRawBufferPointer(
                    rebasing: target[number.count..<number.count + bound])
                guard
                    let count = compressor.compress(UnsafeRawBufferPointer(filtered), into: room)
                else { throw ImageError(.internalError, "libdeflate exceeded its own bound") }
                return number.count + count
            }
        }
        sequence += index == 0 ? 1 : 2
    }

    mutating func end() throws { try append(16) { $0.chunk("IEND", []) } }

    /// Size, position and duration; the area replaces the previous contents and isn't disposed.
    private func control(_ area: PixelRect, _ index: Int) -> [UInt8] {
        let (numerator, denominator) = frames.times.fraction(index)
        let numbers = [sequence, area.size.width, area.size.height, area.x, area.y]
        return numbers.flatMap(Self.big) + Self.big(numerator).suffix(2)
            + Self.big(denominator).suffix(2) + [0, 0]
    }

    private mutating func append(
        _ bytes: Int, _ body: (inout PNGChunkWriter) throws -> Void
    ) throws {
        guard let memory = writer.next(bytes) else { throw ImageError.noRoom }
        var chunks = PNGChunkWriter(memory)
        try body(&chunks)
        written += chunks.count
        writer.written(written)
    }

    /// Compressing a frame can't be canceled, so a large one uses a lower level.
    private static func level(_ level: Int, _ bytes: Int) -> Int {
        [level, 6, 1].first { $0 <= level && bytes <= PNGFormatEncoder.bytesAtOnce($0) } ?? 1
    }

    private static func big(_ number: Int) -> [UInt8] { PNGWriter.bigEndian(number) }
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
        if !parts.exif.isEmpty { chunks += CRC32.pngChunk("eXIf", parts.exif) }
        if !parts.xmp.isEmpty {
            let head = Array("XML:com.adobe.xmp\0".utf8) + [0, 0, 0, 0]
            chunks += CRC32.pngChunk("iTXt", head + parts.xmp)
        }
        return chunks
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
