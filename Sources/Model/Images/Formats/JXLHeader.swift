/// A bit reader for JPEG XL, least significant bit first (ISO/IEC 18181-1, B.2). Past the end of
/// the codestream it returns zeros and sets `isCut`.
struct JXLBits {
    private var end: Int
    private var place: Int
    private(set) var isCut = false

    /// Starts at a byte of the file; this part of the codestream ends at `end`.
    init(at offset: Int, before end: Int) { (place, self.end) = (8 * offset, end) }

    mutating func read(_ count: Int, _ file: borrowing HeaderBytes) -> Int {
        var value = 0
        for index in 0..<count {
            if place / 8 >= end, !isCut, let next = file.jxlPart(behind: end) {
                (place, end) = (8 * next.lowerBound, next.upperBound)
            }
            let byte = place / 8 < end ? file.byte(place / 8) : nil
            isCut = isCut || byte == nil
            value |= Int((byte ?? 0) >> UInt8(place % 8) & 1) << index
            place += 1
        }
        return value
    }

    mutating func flag(_ file: borrowing HeaderBytes) -> Bool { read(1, file) == 1 }

    mutating func skip(_ count: Int, _ file: borrowing HeaderBytes) {
        for _ in 0..<count { _ = read(1, file) }
    }

    /// Skips to the next byte boundary.
    mutating func skipToByte() { place = (place + 7) / 8 * 8 }

    /// Reads a number in one of four forms selected by two bits: a start plus an offset of some
    /// bits.
    mutating func number(
        _ forms: [(start: Int, bits: Int)], _ file: borrowing HeaderBytes
    ) -> Int {
        let form = forms[read(2, file)]
        return form.start + read(form.bits, file)
    }

    /// Reads an enumeration value (B.2.5).
    mutating func word(_ file: borrowing HeaderBytes) -> Int {
        number([(0, 0), (1, 0), (2, 4), (18, 6)], file)
    }

    /// Reads a 64-bit number (B.2.3).
    mutating func wide(_ file: borrowing HeaderBytes) -> Int {
        switch read(2, file) {
        case 0: return 0
        case 1: return 1 + read(4, file)
        case 2: return 17 + read(8, file)
        default:
            var (value, shift) = (read(12, file), 12)
            while !isCut, flag(file) {
                let bits = shift == 60 ? 4 : 8
                value |= read(bits, file) << shift
                if shift == 60 { break }
                shift += 8
            }
            return value
        }
    }
}

extension HeaderBytes {
    /// The aspect ratios, width to height, of sizes that omit the width.
    private static let jxlRatios = [(1, 1), (12, 10), (4, 3), (3, 2), (16, 9), (5, 4), (2, 1)]
    /// The maximum size of a side; no larger image is decoded.
    private static let jxlSideMax = 1 << 18
    /// The maximum number of extra channels parsed, and of characters of their names.
    static let (jxlChannelsMax, jxlNameMax) = (64, 1_071)

    /// The size from the size header, which follows the signature (ISO/IEC 18181-1, D.2), as coded
    /// and before rotation.
    var jxlSize: PixelSize? {
        guard var bits = jxlBits else { return nil }
        let size = jxlSize(&bits)
        return bits.isCut || max(size.width, size.height) > Self.jxlSideMax ? nil : size
    }

    /// Whether the colors of a JPEG XL are premultiplied by its first alpha channel (D.3.1 and
    /// D.3.6); nil if the file is truncated before that field.
    package var jxlAlphaIsPremultiplied: Bool? {
        guard var bits = jxlBits else { return nil }
        _ = jxlSize(&bits)
        guard !bits.flag(self) else { return bits.isCut ? nil : false }
        if bits.flag(self) { _ = jxlExtraFields(&bits) }
        skipBitDepth(&bits)
        bits.skip(1, self)
        let count = jxlExtraChannels(&bits)
        for _ in 0..<min(count, Self.jxlChannelsMax) where !bits.isCut {
            if let isPremultiplied = premultipliesAlpha(&bits) {
                return bits.isCut ? nil : isPremultiplied
            }
        }
        return bits.isCut ? nil : false
    }

    /// A bit reader positioned at the size header.
    var jxlBits: JXLBits? {
        guard let stream = jxlCodestream, bigEndian(2, at: stream.lowerBound) == 0xFF0A else {
            return nil
        }
        return JXLBits(at: stream.lowerBound + 2, before: stream.upperBound)
    }

    func jxlSize(_ bits: inout JXLBits) -> PixelSize {
        let sides = [(1, 9), (1, 13), (1, 18), (1, 30)]
        let isSmall = bits.flag(self)
        let height = isSmall ? 8 * (bits.read(5, self) + 1) : bits.number(sides, self)
        let ratio = bits.read(3, self)
        if ratio > 0 {
            let (width, per) = Self.jxlRatios[ratio - 1]
            return PixelSize(width: height * width / per, height: height)
        }
        let width = isSmall ? 8 * (bits.read(5, self) + 1) : bits.number(sides, self)
        return PixelSize(width: width, height: height)
    }

    /// Skips the orientation, the intrinsic size, the preview size and the animation header.
    /// Returns whether there are frames in addition to the image: a preview or an animation.
    func jxlExtraFields(_ bits: inout JXLBits) -> Bool {
        bits.skip(3, self)
        if bits.flag(self) { _ = jxlSize(&bits) }
        let hasPreview = bits.flag(self)
        if hasPreview { skipPreview(&bits) }
        guard bits.flag(self) else { return hasPreview }
        _ = bits.number([(100, 0), (1_000, 0), (1, 10), (1, 30)], self)
        _ = bits.number([(1, 0), (1_001, 0), (1, 8), (1, 10)], self)
        _ = bits.number([(0, 0), (0, 3), (0, 16), (0, 32)], self)
        bits.skip(1, self)
        return true
    }

    /// Reads the number of extra channels.
    func jxlExtraChannels(_ bits: inout JXLBits) -> Int {
        bits.number([(0, 0), (1, 0), (2, 4), (1, 12)], self)
    }

    private func skipPreview(_ bits: inout JXLBits) {
        let sides =
            bits.flag(self)
            ? [(16, 0), (32, 0), (1, 5), (33, 9)] : [(1, 6), (65, 8), (321, 10), (1_345, 12)]
        _ = bits.number(sides, self)
        if bits.read(3, self) == 0 { _ = bits.number(sides, self) }
    }

    func skipBitDepth(_ bits: inout JXLBits) {
        if bits.flag(self) {
            _ = bits.number([(32, 0), (16, 0), (24, 0), (1, 6)], self)
            bits.skip(4, self)
        } else {
            _ = bits.number([(8, 0), (10, 0), (12, 0), (1, 6)], self)
        }
    }

    /// Reads one extra channel; returns nil unless it is alpha.
    private func premultipliesAlpha(_ bits: inout JXLBits) -> Bool? {
        guard !bits.flag(self) else { return false }
        let kind = bits.number([(0, 0), (1, 0), (2, 4), (18, 6)], self)
        skipBitDepth(&bits)
        _ = bits.number([(0, 0), (3, 0), (4, 0), (1, 3)], self)
        let name = bits.number([(0, 0), (0, 4), (16, 5), (48, 10)], self)
        bits.skip(8 * min(name, Self.jxlNameMax), self)
        switch kind {
        case 0: return bits.flag(self)
        // A spot color, and a color filter array.
        case 2: bits.skip(4 * 16, self)
        case 5: _ = bits.number([(1, 0), (0, 2), (3, 4), (19, 8)], self)
        default: break
        }
        return nil
    }
}

// How a JPEG XL is coded, by the headers up to its first frame (ISO/IEC 18181-1, D and F). Whether
// channels are transformed as a whole is entropy-coded, so every image that may be counts as such;
// so does a file whose first frame follows an ICC profile, which is entropy-coded too.
extension HeaderBytes {
    /// The coding, which determines how much of the image libjxl retains while it decodes.
    var jxlCoding: StoredCoding {
        guard var bits = jxlBits else { return StoredCoding(.whole) }
        let size = jxlSize(&bits)
        guard let metadata = jxlMetadata(&bits) else { return StoredCoding(.layered) }
        guard metadata.knowsFrame, !bits.isCut else {
            return StoredCoding(
                metadata.hasMoreFrames ? .layered : .whole, extraChannels: metadata.extraChannels)
        }
        bits.skipToByte()
        var coding = jxlFrame(&bits, metadata)
        if bits.isCut { coding.coding = .whole }
        coding.extraChannels = metadata.extraChannels
        if coding.framePixels <= size.area ?? .max { coding.framePixels = 0 }
        return coding
    }

    private struct JXLMetadata {
        var extraChannels = 0
        /// Whether colors are XYB, the space of lossy images.
        var isXYB = true
        /// Whether there are frames in addition to the image.
        var hasMoreFrames = false
        /// Whether the first frame can be located.
        var knowsFrame = true
    }

    /// Returns `nil` if there are more channels than any image has.
    private func jxlMetadata(_ bits: inout JXLBits) -> JXLMetadata? {
        var metadata = JXLMetadata()
        guard !bits.flag(self) else {
            metadata.knowsFrame = bits.flag(self)
            return metadata
        }
        let hasExtraFields = bits.flag(self)
        if hasExtraFields { metadata.hasMoreFrames = jxlExtraFields(&bits) }
        skipBitDepth(&bits)
        bits.skip(1, self)
        metadata.extraChannels = jxlExtraChannels(&bits)
        // Extra channels have variable-length headers, and they are coded as a whole.
        guard metadata.extraChannels == 0, !metadata.hasMoreFrames else {
            metadata.knowsFrame = false
            return metadata.extraChannels > Self.jxlChannelsMax ? nil : metadata
        }
        metadata.isXYB = bits.flag(self)
        metadata.knowsFrame = skipColorEncoding(&bits)
        if hasExtraFields, !bits.flag(self) { bits.skip(16 + 16 + 1 + 16, self) }
        // No extensions, and the default transform.
        let isPlain = bits.wide(self) == 0 && bits.flag(self)
        metadata.knowsFrame = metadata.knowsFrame && isPlain
        return metadata
    }

    /// Returns whether no ICC profile follows the metadata.
    private func skipColorEncoding(_ bits: inout JXLBits) -> Bool {
        guard !bits.flag(self) else { return true }
        let (hasProfile, space) = (bits.flag(self), bits.word(self))
        guard !hasProfile else { return false }
        let (gray, xyb, custom) = (1, 2, 2)
        if space != xyb, bits.word(self) == custom { skipPoint(&bits) }
        if space != xyb, space != gray, bits.word(self) == custom {
            for _ in 0..<3 { skipPoint(&bits) }
        }
        if space != xyb {
            if bits.flag(self) { bits.skip(24, self) } else { _ = bits.word(self) }
        }
        _ = bits.word(self)
        return true
    }

    private func skipPoint(_ bits: inout JXLBits) {
        for _ in 0..<2 {
            _ = bits.number([(0, 19), (0, 19), (0, 20), (0, 21)], self)
        }
    }

    /// Reads the first frame header (F.2) of an image without extra channels.
    private func jxlFrame(_ bits: inout JXLBits, _ metadata: JXLMetadata) -> StoredCoding {
        // All defaults: one lossy frame.
        guard !bits.flag(self) else { return StoredCoding(.streamed) }
        let (kind, isModular, flags) = (bits.read(2, self), bits.flag(self), bits.wide(self))
        // The image follows a downsampled version of it, or a patch source.
        guard kind == 0, !isModular else {
            return StoredCoding(.whole)
        }
        let usesSmallVersion = flags & 0x20 != 0
        if !metadata.isXYB, bits.flag(self), !usesSmallVersion { bits.skip(6, self) }
        if !usesSmallVersion { bits.skip(2, self) }
        if metadata.isXYB { bits.skip(6, self) }
        skipPasses(&bits)
        if bits.flag(self) {
            return StoredCoding(.layered, framePixels: jxlFrameArea(&bits))
        }
        // Replaces the canvas, and is the last frame.
        let isAlone = bits.read(2, self) == 0 && bits.flag(self)
        return StoredCoding(isAlone && !usesSmallVersion ? .streamed : .layered)
    }

    private func skipPasses(_ bits: inout JXLBits) {
        let passes = bits.number([(1, 0), (2, 0), (3, 0), (4, 3)], self)
        guard passes > 1 else { return }
        let sizes = bits.number([(0, 0), (1, 0), (2, 0), (3, 1)], self)
        bits.skip(2 * (passes - 1) + 2 * sizes, self)
        for _ in 0..<sizes { _ = bits.number([(0, 0), (1, 0), (2, 0), (0, 3)], self) }
    }

    /// Reads the pixel count of a frame with an offset and a size of its own.
    private func jxlFrameArea(_ bits: inout JXLBits) -> Int {
        let forms = [(0, 8), (256, 11), (2_304, 14), (18_688, 30)]
        for _ in 0..<2 { _ = bits.number(forms, self) }
        let (width, height) = (bits.number(forms, self), bits.number(forms, self))
        return PixelSize(width: width, height: height).area ?? .max
    }
}
