import Model

/// Joins still images to an animated WebP (RFC 9649 §2.7), in the order in which they are added.
/// Each is a lossless WebP as the stack writes it. Its compressed pixels are copied unchanged, with
/// or without alpha.
struct AnimatedWebP {
    /// The file written so far; complete after `end`.
    private(set) var bytes: [UInt8] = []
    private let loops: Int
    private let bytesMax: Int
    /// The size of all frames; `nil` before the first one.
    private var size: PixelSize?
    /// The total duration of the frames so far, as requested in microseconds and as written in
    /// milliseconds.
    private var (requested, written) = (0, 0)

    /// The bit for alpha, both in the flags of the file and in the fifth byte of a frame's pixels.
    private static let alphaFlag: UInt8 = 0x10
    private static let flagsOffset = 20

    /// Creates a writer for an animation that is played `loops` times (0 means endless), in at most
    /// `bytesMax` bytes.
    init(loops: Int, bytesMax: Int) { (self.loops, self.bytesMax) = (loops, bytesMax) }

    /// Adds the next frame, which replaces the whole canvas.
    ///
    /// Throws `stepFailed` if its size differs from that of the first frame, `limitExceeded` if the
    /// file would exceed its limit, and `badImageData` if it isn't a lossless WebP.
    mutating func add(
        _ file: UnsafeRawBufferPointer, for duration: Duration
    ) throws(ImageError) {
        let still = try Self.still(file)
        if size == nil { begin(still.size) }
        let canvas = size ?? still.size
        guard still.size == canvas else { throw Self.otherSize(still.size, canvas) }
        let pixels = UnsafeRawBufferPointer(rebasing: file[still.pixels])
        let padding = pixels.count % 2
        let length = 16 + 8 + pixels.count + padding
        guard bytes.count + 8 + length <= bytesMax else { throw full }
        let shown = milliseconds(of: duration)
        bytes += Array("ANMF".utf8) + Self.number(length, 4) + Self.number(0, 6)
        bytes += Self.number(canvas.width - 1, 3) + Self.number(canvas.height - 1, 3)
        // The flag: no blending.
        bytes += Self.number(shown, 3) + [2]
        bytes += Array("VP8L".utf8) + Self.number(pixels.count, 4)
        bytes += pixels
        bytes += Self.number(0, padding)
        bytes[Self.flagsOffset] |= pixels[4] & Self.alphaFlag
    }

    /// Ends the file after the last frame.
    mutating func end() { bytes.replaceSubrange(4..<8, with: Self.number(bytes.count - 8, 4)) }

    private mutating func begin(_ canvas: PixelSize) {
        size = canvas
        bytes = Array("RIFF".utf8) + Self.number(0, 4) + Array("WEBPVP8X".utf8)
        // The flag: an animation.
        bytes += Self.number(10, 4) + [2] + Self.number(0, 3)
        bytes += Self.number(canvas.width - 1, 3) + Self.number(canvas.height - 1, 3)
        bytes += Array("ANIM".utf8) + Self.number(6, 4) + Self.number(0, 4)
        bytes += Self.number(loops, 2)
    }

    /// Returns a duration in whole milliseconds. The rounding error of one frame is carried over to
    /// the next.
    private mutating func milliseconds(of duration: Duration) -> Int {
        requested += Int(duration / .microseconds(1))
        let count = max(1, (requested + 500) / 1_000 - written)
        written += count
        return count
    }

    /// Returns the size of an image and the range of its compressed pixels in the file.
    private static func still(
        _ file: UnsafeRawBufferPointer
    ) throws(ImageError) -> (size: PixelSize, pixels: Range<Int>) {
        let span = file.bindMemory(to: UInt8.self).span
        let header = HeaderBytes(span)
        var offset = 12
        while let size = header.webPSize, let count = header.littleEndian(4, at: offset + 4) {
            let body = offset + 8..<offset + 8 + count
            guard body.upperBound <= file.count else { break }
            if header.has("VP8L", at: offset), count > 4 { return (size, body) }
            offset = body.upperBound + count % 2
        }
        throw ImageError(.badImageData, "a frame cannot be read: not a lossless WebP")
    }

    /// A number in little-endian byte order.
    private static func number(_ value: Int, _ count: Int) -> [UInt8] {
        (0..<count).map { UInt8(truncatingIfNeeded: value >> (8 * $0)) }
    }

    private var full: ImageError {
        ImageError(
            .limitExceeded,
            "the frames exceed a total of \(bytesMax) bytes in lossless form, the limit of one "
                + "upload: use fewer frames, or make them smaller with a resize"
        ) { $0.limit = "\(bytesMax)" }
    }

    private static func otherSize(_ size: PixelSize, _ first: PixelSize) -> ImageError {
        ImageError(
            .stepFailed,
            "it is \(size), but the first one is \(first): make all frames the same size, such as "
                + "with --resize \(first) --mode fill")
    }
}
