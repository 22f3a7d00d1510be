/// The bits of a JPEG XL, the lowest one of each byte first (ISO/IEC 18181-1, B.2). Behind the end
/// of the codestream are zeros, and `isCut` says so.
struct JXLBits {
    private var end: Int
    private var place: Int
    private(set) var isCut = false

    /// From a byte of the file on, as far as this part of the codestream goes.
    init(at offset: Int, before end: Int) { (place, self.end) = (8 * offset, end) }

    mutating func take(_ count: Int, _ file: borrowing HeaderBytes) -> Int {
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

    mutating func flag(_ file: borrowing HeaderBytes) -> Bool { take(1, file) == 1 }

    /// Passes over bits that nobody asks for.
    mutating func skip(_ count: Int, _ file: borrowing HeaderBytes) {
        for _ in 0..<count { _ = take(1, file) }
    }

    /// Passes over what is left of a byte.
    mutating func skipToByte() { place = (place + 7) / 8 * 8 }

    /// Two bits say which of four numbers it is: each has a start, to which so many bits are added.
    mutating func number(
        _ forms: [(start: Int, bits: Int)], _ file: borrowing HeaderBytes
    ) -> Int {
        let form = forms[take(2, file)]
        return form.start + take(form.bits, file)
    }

    /// A number of an enumeration (B.2.5).
    mutating func word(_ file: borrowing HeaderBytes) -> Int {
        number([(0, 0), (1, 0), (2, 4), (18, 6)], file)
    }

    /// A number of 64 bits (B.2.3).
    mutating func wide(_ file: borrowing HeaderBytes) -> Int {
        switch take(2, file) {
        case 0: return 0
        case 1: return 1 + take(4, file)
        case 2: return 17 + take(8, file)
        default:
            var (value, shift) = (take(12, file), 12)
            while !isCut, flag(file) {
                let bits = shift == 60 ? 4 : 8
                value |= take(bits, file) << shift
                if shift == 60 { break }
                shift += 8
            }
            return value
        }
    }
}

extension HeaderBytes {
    /// Width for height of what needs no width of its own.
    private static let jxlRatios = [(1, 1), (12, 10), (4, 3), (3, 2), (16, 9), (5, 4), (2, 1)]
    /// More are none of an image that somebody decodes.
    private static let jxlSideMax = 1 << 18
    /// Channels beside the colours that are looked at, and letters of their names.
    static let (jxlChannelsMax, jxlNameMax) = (64, 1_071)

    /// The size header, behind the signature (ISO/IEC 18181-1, D.2): as it is coded, before it is
    /// turned.
    var jxlSize: PixelSize? {
        guard var bits = jxlBits else { return nil }
        let size = jxlSize(&bits)
        return bits.isCut || max(size.width, size.height) > Self.jxlSideMax ? nil : size
    }

    /// Whether colours of a JPEG XL are multiplied by its alpha, the first channel of that kind
    /// (D.3.1 and D.3.6); nil where the file ends before that.
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

    /// From the size header on.
    var jxlBits: JXLBits? {
        guard let stream = jxlCodestream, bigEndian(2, at: stream.lowerBound) == 0xFF0A else {
            return nil
        }
        return JXLBits(at: stream.lowerBound + 2, before: stream.upperBound)
    }

    func jxlSize(_ bits: inout JXLBits) -> PixelSize {
        let sides = [(1, 9), (1, 13), (1, 18), (1, 30)]
        let isSmall = bits.flag(self)
        let height = isSmall ? 8 * (bits.take(5, self) + 1) : bits.number(sides, self)
        let ratio = bits.take(3, self)
        if ratio > 0 {
            let (width, per) = Self.jxlRatios[ratio - 1]
            return PixelSize(width: height * width / per, height: height)
        }
        let width = isSmall ? 8 * (bits.take(5, self) + 1) : bits.number(sides, self)
        return PixelSize(width: width, height: height)
    }

    /// Passes over orientation, the intrinsic size, the size of a preview and times of an
    /// animation; says whether there are frames besides the image: a preview or an animation.
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

    /// How many channels there are beside the colors.
    func jxlExtraChannels(_ bits: inout JXLBits) -> Int {
        bits.number([(0, 0), (1, 0), (2, 4), (1, 12)], self)
    }

    private func skipPreview(_ bits: inout JXLBits) {
        let sides =
            bits.flag(self)
            ? [(16, 0), (32, 0), (1, 5), (33, 9)] : [(1, 6), (65, 8), (321, 10), (1_345, 12)]
        _ = bits.number(sides, self)
        if bits.take(3, self) == 0 { _ = bits.number(sides, self) }
    }

    func skipBitDepth(_ bits: inout JXLBits) {
        if bits.flag(self) {
            _ = bits.number([(32, 0), (16, 0), (24, 0), (1, 6)], self)
            bits.skip(4, self)
        } else {
            _ = bits.number([(8, 0), (10, 0), (12, 0), (1, 6)], self)
        }
    }

    /// Of one channel beside the colours; nil for another one than alpha.
    private func premultipliesAlpha(_ bits: inout JXLBits) -> Bool? {
        guard !bits.flag(self) else { return false }
        let kind = bits.number([(0, 0), (1, 0), (2, 4), (18, 6)], self)
        skipBitDepth(&bits)
        _ = bits.number([(0, 0), (3, 0), (4, 0), (1, 3)], self)
        let name = bits.number([(0, 0), (0, 4), (16, 5), (48, 10)], self)
        bits.skip(8 * min(name, Self.jxlNameMax), self)
        switch kind {
        case 0: return bits.flag(self)
        // A spot colour, and a part of a mosaic.
        case 2: bits.skip(4 * 16, self)
        case 5: _ = bits.number([(1, 0), (0, 2), (3, 4), (19, 8)], self)
        default: break
        }
        return nil
    }
}
