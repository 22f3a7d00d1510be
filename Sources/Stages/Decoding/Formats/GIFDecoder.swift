import Model
import Vips

/// GIF, its first frame.
struct GIFDecoder: FormatDecoder {
    let format = ImageFormat.gif
    let loaders = [VipsLoader.gif]

    func open(_ bytes: UnsafeRawBufferPointer, at scale: DecodeScale) throws -> VipsImage {
        try VipsImage.gif(bytes).onScreen(of: bytes)
    }

    func partialHeader(_ bytes: UnsafeRawBufferPointer) throws -> VipsImage {
        try Self.image(FirstGIFFrame(bytes))
    }

    /// Decodes the rows of the first frame that have arrived, or the passes of an interlaced one,
    /// each of which fills the area. The rest is transparent, or black.
    func openPartial(
        _ bytes: UnsafeRawBufferPointer, at scale: DecodeScale, _ missing: MissingPixels
    ) throws -> VipsImage {
        let frame = try FirstGIFFrame(bytes)
        guard frame.hasPixels else { throw VipsError.nothingToShow(format) }
        let rows = frame.arrivedRows
        guard rows < frame.rows else { return try Self.image(frame) }
        try missing.note()
        let image = try Self.image(frame)
        return frame.isInterlaced ? try image.filling(frame, arrived: rows) : image
    }

    private static func image(_ frame: FirstGIFFrame) throws(VipsError) -> VipsImage {
        let bytes = UnsafeRawBufferPointer(frame.file.bytes)
        return try VipsImage.gif(bytes, mayEnd: true, owner: frame.file).onScreen(of: bytes)
    }
}

extension VipsImage {
    /// Returns the first frame at its position on the screen, which is transparent elsewhere.
    /// libnsgif fills it with black, and treats a screen of more than 2,048 columns or rows as an
    /// error and replaces it by one of the frames' size.
    func onScreen(of file: UnsafeRawBufferPointer) throws(VipsError) -> VipsImage {
        let bytes = file.bindMemory(to: UInt8.self).span
        guard let map = AnimationMap(bytes, framesMax: 1) else { return self }
        let (decoded, screen) = (header, map.canvas)
        // A frame that extends beyond the screen enlarges it.
        let columns = max(decoded.width, screen.width)
        let rows = max(decoded.height, screen.height)
        let all = PixelRect(
            x: 0, y: 0, size: PixelSize(width: decoded.width, height: decoded.height))
        let area = map.frames.first?.area ?? all
        guard area.size.width < columns || area.size.height < rows else { return self }
        let right = min(area.x + area.size.width, decoded.width)
        let bottom = min(area.y + area.size.height, decoded.height)
        guard area.x < right, area.y < bottom else { return self }
        let frame = try extracted(
            left: area.x, top: area.y, width: right - area.x, height: bottom - area.y)
        let seen = decoded.hasAlpha ? frame : try frame.withAlpha()
        return try seen.embedded(
            left: area.x, top: area.y, width: columns, height: rows,
            background: [Double](repeating: 0, count: seen.header.bands))
    }
}

/// A GIF of only the first frame, created from the bytes that have arrived: its blocks end here,
/// although its pixels may be incomplete.
private struct FirstGIFFrame {
    let file: ZeroedBytes
    /// Whether there is any byte of pixel data.
    private(set) var hasPixels = false
    /// The frame's position and size on the screen.
    let (left, top, columns, rows): (Int, Int, Int, Int)
    let isInterlaced: Bool
    private let codes: GIFCodes

    private static let screenBytes = 13
    /// The size of an image descriptor before its color table.
    private static let descriptorBytes = 10
    /// A block terminator and a trailer.
    private static let end: [UInt8] = [0, 0x3B]

    /// - Throws: `corrupt` if no image has begun.
    init(_ bytes: UnsafeRawBufferPointer) throws(VipsError) {
        guard let (descriptor, start) = Self.image(of: bytes) else {
            throw VipsError(kind: .corrupt, operation: "gif", text: "no frame has started yet")
        }
        let numbers = [1, 3, 5, 7].map { place in
            Int(bytes[descriptor + place]) | Int(bytes[descriptor + place + 1]) << 8
        }
        (left, top, columns, rows) = (numbers[0], numbers[1], numbers[2], numbers[3])
        isInterlaced = bytes[descriptor + Self.descriptorBytes - 1] & 0x40 != 0
        codes = GIFCodes(bytes, from: start)
        var (offset, cut) = (start, nil as Int?)
        while offset < bytes.count, bytes[offset] > 0 {
            hasPixels = hasPixels || offset + 1 < bytes.count
            let next = offset + 1 + Int(bytes[offset])
            if next > bytes.count { cut = offset }
            offset = min(next, bytes.count)
        }
        file = ZeroedBytes(count: offset + Self.end.count)
        file.bytes.copyBytes(from: bytes[..<offset])
        UnsafeMutableRawBufferPointer(rebasing: file.bytes[offset...]).copyBytes(from: Self.end)
        // The last block is shorter than declared; an empty one becomes the block terminator.
        if let cut { file.bytes[cut] = UInt8(offset - cut - 1) }
    }

    /// The number of complete rows, in file order.
    var arrivedRows: Int {
        columns > 0 ? codes.pixels(atMost: columns * rows) / columns : rows
    }

    /// Returns the offsets of the first image's descriptor and of its first block of pixels.
    private static func image(of bytes: UnsafeRawBufferPointer) -> (descriptor: Int, blocks: Int)? {
        let file = HeaderBytes(Span(_unsafeBytes: bytes))
        guard file.gifSize != nil, let flags = file.byte(10) else { return nil }
        var offset = screenBytes + GIFFile.colorBytes(flags)
        while let introducer = file.byte(offset) {
            switch introducer {
            case 0: offset += 1
            case 0x21:
                offset += 2
                while let count = file.byte(offset), count > 0 { offset += 1 + Int(count) }
                offset += 1
            case 0x2C:
                guard let flags = file.byte(offset + descriptorBytes - 1) else { return nil }
                // The minimum code size precedes the blocks.
                let start = offset + descriptorBytes + GIFFile.colorBytes(flags) + 1
                return start <= bytes.count ? (offset, start) : nil
            default: return nil
            }
        }
        return nil
    }
}

extension VipsImage {
    /// Fills the missing rows of an interlaced frame: each is copied from the nearest row above
    /// that came in an earlier pass (GIF89a, appendix E), as in browsers.
    fileprivate func filling(_ frame: FirstGIFFrame, arrived: Int) throws(VipsError) -> VipsImage {
        let (header, stride) = (header, header.width * header.bands)
        let memory = ZeroedBytes(count: header.height * stride)
        try write(to: memory.bytes)
        let passes = [(0, 8), (4, 8), (2, 4), (1, 2)]
        let order = passes.flatMap { Array(Swift.stride(from: $0.0, to: frame.rows, by: $0.1)) }
        let there = Set(order.prefix(arrived))
        let from = min(frame.left, header.width) * header.bands
        let count = min(frame.columns * header.bands, stride - from)
        for row in order.dropFirst(arrived).sorted() {
            guard let source = [1, 3, 7].map({ row & ~$0 }).first(where: there.contains),
                frame.top + row < header.height
            else { continue }
            let target = memory.bytes[((frame.top + row) * stride + from)...].prefix(count)
            let found = memory.bytes[((frame.top + source) * stride + from)...].prefix(count)
            UnsafeMutableRawBufferPointer(rebasing: target)
                .copyMemory(from: UnsafeRawBufferPointer(rebasing: found))
        }
        return try .pixels(
            memory, PixelSize(width: header.width, height: header.height), bands: header.bands)
    }
}

/// Counts the compressed pixels of a GIF image (GIF89a, appendix F) without decoding them.
struct GIFCodes {
    private let bytes: UnsafeRawBufferPointer
    /// The position in the current block.
    private var place: Int
    private var blockEnd: Int
    private var bits: UInt32 = 0
    private var bitCount = 0

    private static let codesMax = 4_096
    private static let leastBits = 1...11

    /// `start` is the offset of the first block, after the minimum code size.
    init(_ bytes: UnsafeRawBufferPointer, from start: Int) {
        (self.bytes, place, blockEnd) = (bytes, start, start)
    }

    /// Returns the number of pixels up to an invalid code, at most `most`.
    func pixels(atMost most: Int) -> Int {
        var (codes, left) = (self, most)
        let least = Int(bytes[place - 1])
        guard Self.leastBits.contains(least) else { return 0 }
        let (clear, end) = (1 << least, 1 << least + 1)
        // The number of pixels of each code.
        let first = [Int](repeating: 1, count: clear) + [0, 0]
        var (lengths, width, last) = (first, least + 1, 0)
        while left > 0 {
            guard let code = codes.next(width), code != end else { break }
            if code == clear {
                (lengths, width, last) = (first, least + 1, 0)
                continue
            }
            guard code < lengths.count || code == lengths.count && last > 0 else { break }
            let length = code < lengths.count ? lengths[code] : last + 1
            left -= length
            if last > 0, lengths.count < Self.codesMax { lengths.append(last + 1) }
            if lengths.count == 1 << width, lengths.count < Self.codesMax { width += 1 }
            last = length
        }
        return most - max(0, left)
    }

    /// Returns the next code; `nil` at the end of the bytes or blocks.
    private mutating func next(_ width: Int) -> Int? {
        while bitCount < width {
            guard let byte = nextByte() else { return nil }
            bits |= UInt32(byte) << UInt32(bitCount)
            bitCount += 8
        }
        defer {
            bits >>= UInt32(width)
            bitCount -= width
        }
        return Int(bits & (1 << UInt32(width) - 1))
    }

    private mutating func nextByte() -> UInt8? {
        if place == blockEnd {
            guard place < bytes.count, bytes[place] > 0 else { return nil }
            blockEnd = place + 1 + Int(bytes[place])
            place += 1
        }
        guard place < bytes.count else { return nil }
        defer { place += 1 }
        return bytes[place]
    }
}
