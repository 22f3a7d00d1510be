import ImageModel
import Zlib

/// Joins stills to an animated PNG (PNG specification, third edition, 4.9 and 11.3.4), in the order
/// in which they come. Each is a PNG as the stack writes it (`PNGPixels`), of 8 bits in sRGB.
///
/// As long as all have the same channels, their data are taken as they are; from the first one on
/// that has others, all have red, green, blue and alpha.
struct AnimatedPNG {
    /// The file so far.
    private(set) var bytes: [UInt8] = [0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A]
    private let count: Int
    private let loops: Int
    private let bytesMax: Int
    private var header: PNGPixels.Header?
    private var frames: [Frame] = []
    private var sequence = 0
    private var clock = PNGClock()

    /// Where the data of a frame are in the file.
    private struct Frame {
        let data: Range<Int>
        let duration: Duration
    }

    /// What the last chunk takes.
    private static let endBytes = 12

    /// Of so many frames, shown so often, 0: without end; in so many bytes at most.
    init(frames count: Int, loops: Int, bytesMax: Int) {
        (self.count, self.loops, self.bytesMax) = (count, loops, bytesMax)
    }

    /// The next frame.
    ///
    /// Throws `stepFailed` where it has not the size of the first one, `limitExceeded` where the
    /// file has no room for it, and what `PNGPixels` throws.
    mutating func add(
        _ file: UnsafeRawBufferPointer, for duration: Duration
    ) throws(ImageError) {
        let header = try PNGPixels.Header(file)
        guard let first = self.header else {
            begin(header)
            return try append(PNGPixels.data(of: file), duration)
        }
        guard header.size == first.size else { throw Self.otherSize(header.size, first.size) }
        if header.channels != first.channels, first.channels != 4 { try widen(first) }
        guard header.channels == self.header?.channels else {
            return try append(try Self.wide(PNGPixels.data(of: file), header), duration)
        }
        try append(PNGPixels.data(of: file), duration)
    }

    /// Nothing comes any more.
    mutating func end() { append("IEND", []) }

    private mutating func begin(_ header: PNGPixels.Header) {
        self.header = header
        let sides = Self.word(header.size.width) + Self.word(header.size.height)
        let colour: UInt8 = [1: 0, 2: 4, 3: 2, 4: 6][header.channels] ?? 6
        append("IHDR", sides + [8, colour, 0, 0, 0])
        append("acTL", Self.word(count) + Self.word(loops))
    }

    /// What came so far gets all channels.
    private mutating func widen(_ header: PNGPixels.Header) throws(ImageError) {
        var wide = AnimatedPNG(frames: count, loops: loops, bytesMax: bytesMax)
        wide.begin(PNGPixels.Header(size: header.size, channels: 4))
        for frame in frames {
            let data = Array(bytes[frame.data])
            let rgba = try data.span.bytes.withUnsafeBytes { (data) throws(ImageError) in
                try Self.wide([data], header)
            }
            try wide.append(rgba, frame.duration)
        }
        self = wide
    }

    private static func wide(
        _ data: [UnsafeRawBufferPointer], _ header: PNGPixels.Header
    ) throws(ImageError) -> [UInt8] {
        let rgba = try PNGRows(header.channels).rgba(
            try PNGPixels.inflate(data, header), header)
        do throws(ZlibError) {
            return try Deflater.zlib(PNGRows.differences(rgba, header.size))
        } catch {
            throw ImageError(.internalError, "a frame cannot be compressed: \(error)")
        }
    }

    private mutating func append(_ data: [UInt8], _ duration: Duration) throws(ImageError) {
        try data.span.bytes.withUnsafeBytes { (data) throws(ImageError) in
            try append([data], duration)
        }
    }

    /// A frame that replaces all that was there.
    private mutating func append(
        _ data: [UnsafeRawBufferPointer], _ duration: Duration
    ) throws(ImageError) {
        guard let header else { return }
        let (isFirst, numbers) = (frames.isEmpty, [header.size.width, header.size.height, 0, 0])
        let length = data.reduce(0) { $0 + $1.count }
        guard bytes.count + length + 64 + Self.endBytes <= bytesMax else { throw full }
        let (numerator, denominator) = clock.fraction(of: duration)
        let shown = Self.word(numerator).suffix(2) + Self.word(denominator).suffix(2)
        append("fcTL", ([sequence] + numbers).flatMap(Self.word) + shown + [0, 0])
        let start = open(isFirst ? "IDAT" : "fdAT")
        if !isFirst { bytes += Self.word(sequence + 1) }
        for part in data { bytes += part }
        close(start)
        sequence += isFirst ? 1 : 2
        // Behind the data is the check sum.
        frames.append(
            Frame(data: bytes.count - 4 - length..<bytes.count - 4, duration: duration))
    }

    private mutating func append(_ name: String, _ content: [UInt8]) {
        let start = open(name)
        bytes += content
        close(start)
    }

    /// Begins a chunk with its name; its length is not known yet.
    private mutating func open(_ name: String) -> Int {
        bytes += [0, 0, 0, 0] + Array(name.utf8)
        return bytes.count - 8
    }

    /// Says the length of a chunk, and its check sum.
    private mutating func close(_ start: Int) {
        bytes.replaceSubrange(start..<start + 4, with: Self.word(bytes.count - start - 8))
        let sum = bytes[(start + 4)...].withUnsafeBytes { CRC32.of($0) }
        bytes += Self.word(Int(sum))
    }

    private static func word(_ number: Int) -> [UInt8] {
        [24, 16, 8, 0].map { UInt8(truncatingIfNeeded: number >> $0) }
    }

    private var full: ImageError {
        ImageError(
            .limitExceeded,
            "all frames together have more than \(bytesMax) bytes without loss, which is what the "
                + "stack takes at once: give fewer of them, or make them smaller with a resize",
            details: ["limit": "\(bytesMax)"])
    }

    private static func otherSize(_ size: PixelSize, _ first: PixelSize) -> ImageError {
        ImageError(
            .stepFailed,
            "it is \(size), and the first one is \(first): give all frames one size, such as with "
                + "--resize \(first) --mode fill")
    }
}
