import ImageModel
import StageContract
import Vips

/// The beginning of a GIF: of the first frame the rows that have arrived, of an interlaced one its
/// passes, each of which fills the area. The rest is transparent, or black.
struct PartialGIF: FormatDecoder {
    let missing: MissingPixels
    private let whole = GIFDecoder()

    var format: ImageFormat { whole.format }
    var loaders: [VipsLoader] { whole.loaders }

    func header(_ bytes: UnsafeRawBufferPointer) throws(VipsError) -> VipsImage {
        try Self.image(FirstGIFFrame(bytes))
    }

    func open(
        _ bytes: UnsafeRawBufferPointer, at scale: DecodeScale
    ) throws(VipsError) -> VipsImage {
        let frame = try FirstGIFFrame(bytes)
        guard frame.hasPixels else { throw .nothingToShow(format) }
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

/// A GIF of the first frame alone, made of the bytes of it that have arrived: its blocks end here,
/// though its pixels may not.
private struct FirstGIFFrame {
    let file: ZeroedBytes
    /// Whether there is any byte of them.
    private(set) var hasPixels = false
    /// Where it lies on the screen.
    let (left, top, columns, rows): (Int, Int, Int, Int)
    let isInterlaced: Bool
    private let codes: GIFCodes

    private static let screenBytes = 13
    /// Of an image, without its colours: they come first.
    private static let descriptorBytes = 10
    /// An end of blocks, and an end of file.
    private static let end: [UInt8] = [0, 0x3B]

    /// - Throws: `corrupt` where no image begins yet.
    init(_ bytes: UnsafeRawBufferPointer) throws(VipsError) {
        guard let (descriptor, start) = Self.image(of: bytes) else {
            throw VipsError(kind: .corrupt, operation: "gif", text: "no frame begins yet")
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
        // The last block has fewer bytes than it says; where it has none, it is the end of blocks.
        if let cut { file.bytes[cut] = UInt8(offset - cut - 1) }
    }

    /// How many of its rows are there as a whole, in the order of the file.
    var arrivedRows: Int {
        columns > 0 ? codes.pixels(atMost: columns * rows) / columns : rows
    }

    /// Where the descriptor of the first image and its first block of pixels begin, or will.
    private static func image(
        of bytes: UnsafeRawBufferPointer
    ) -> (descriptor: Int, blocks: Int)? {
        let file = HeaderBytes(Span(_unsafeBytes: bytes))
        guard file.gifSize != nil, let flags = file.byte(10) else { return nil }
        var offset = screenBytes + tableBytes(flags)
        while let introducer = file.byte(offset) {
            switch introducer {
            case 0: offset += 1
            case 0x21:
                offset += 2
                while let count = file.byte(offset), count > 0 { offset += 1 + Int(count) }
                offset += 1
            case 0x2C:
                guard let flags = file.byte(offset + descriptorBytes - 1) else { return nil }
                // The fewest bits of a code stand in front of the blocks.
                let start = offset + descriptorBytes + tableBytes(flags) + 1
                return start <= bytes.count ? (offset, start) : nil
            default: return nil
            }
        }
        return nil
    }

    /// A table of colours follows where the highest bit is set, of a power of two.
    private static func tableBytes(_ flags: UInt8) -> Int {
        flags & 0x80 == 0 ? 0 : 3 << (Int(flags & 7) + 1)
    }
}

extension VipsImage {
    /// The same with the rows of an interlaced frame that are missing: each is the nearest one
    /// above that came in an earlier pass (GIF89a, appendix E), as browsers show it.
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
            UnsafeRawBufferPointer(memory.bytes), width: header.width, height: header.height,
            bands: header.bands, bytesPerBand: 1, owner: memory)
    }
}
