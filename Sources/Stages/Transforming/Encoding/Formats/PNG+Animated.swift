import Deflate
import ImageModel
import PNGFilters
import StageContract

/// Animated PNG (PNG specification, third edition, 4.9): RGBA of 8 bits, and of each frame what
/// changed.
extension PNGFormatEncoder {
    func encode(
        _ frames: StepFrames, _ order: EncodingOrder, to writer: BlockWriter<some OutputSpace>
    ) throws -> Bool {
        guard order.options.colours == nil, !order.options.isProgressive else {
            throw ImageError.step(
                "encode",
                "an animated png has neither a palette nor passes: leave out colours and "
                    + "progressive")
        }
        var png = AnimatedPNGWriter(
            frames: frames, filter: order.isPhotograph ? .adaptive : .none,
            level: order.options.compression ?? (order.isPhotograph ? 1 : 6), writer: writer)
        try png.begin()
        var before: [UInt8] = []
        for index in 0..<frames.count {
            try frames.withPixels(of: index) { pixels in
                if order.cancellation.isCancelled { throw ImageError.cancelled }
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
    /// libdeflate's, 1 to 12.
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

    /// A frame: its area in place of what was there.
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
                else { throw ImageError(.internalError, "libdeflate has no room in its own bound") }
                return number.count + count
            }
        }
        sequence += index == 0 ? 1 : 2
    }

    mutating func end() throws { try append(16) { $0.chunk("IEND", []) } }

    /// Size, place, duration; the area stays, and its pixels replace what was there.
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

    /// A frame cannot be stopped while it is compressed: a large one is compressed less.
    private static func level(_ level: Int, _ bytes: Int) -> Int {
        [level, 6, 1].first { $0 <= level && bytes <= PNGFormatEncoder.bytesAtOnce($0) } ?? 1
    }

    private static func big(_ number: Int) -> [UInt8] { PNGWriter.bigEndian(number) }
}

/// Where a frame differs from the one before it.
enum ChangedArea {
    /// The smallest area that has all changes, of one pixel at least; all of it where nothing was
    /// before. Both are RGBA, rows without gaps.
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
