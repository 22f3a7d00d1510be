import ImageModel
import StageContract
import Vips

/// The beginning of a GIF: of the first frame the rows that have arrived, the rest transparent or
/// black.
struct PartialGIF: FormatDecoder {
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
        return try Self.image(frame)
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

    private static let screenBytes = 13
    /// Of an image, without its colours: they come first.
    private static let descriptorBytes = 10
    /// An end of blocks, and an end of file.
    private static let end: [UInt8] = [0, 0x3B]

    /// - Throws: `corrupt` where no image begins yet.
    init(_ bytes: UnsafeRawBufferPointer) throws(VipsError) {
        guard let start = Self.blocks(of: bytes) else {
            throw VipsError(kind: .corrupt, operation: "gif", text: "no frame begins yet")
        }
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

    /// Where the first block of pixels begins, or will.
    private static func blocks(of bytes: UnsafeRawBufferPointer) -> Int? {
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
                return start <= bytes.count ? start : nil
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
