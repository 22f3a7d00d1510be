/// The first bits of a JPEG XL, the lowest one of each byte first.
private struct JXLBits {
    private var bits: Int

    init(_ bits: Int) { self.bits = bits }

    mutating func take(_ count: Int) -> Int {
        defer { bits >>= count }
        return bits & (1 << count - 1)
    }

    /// A side, of which two bits say how many it has; nil for one over 262,144.
    mutating func side(isSmall: Bool) -> Int? {
        if isSmall { return (take(5) + 1) * 8 }
        let counts = [9, 13, 18]
        let selector = take(2)
        return counts.indices.contains(selector) ? take(counts[selector]) + 1 : nil
    }
}

extension HeaderBytes {
    /// Width for height of what needs no width of its own.
    private static let jxlRatios = [(1, 1), (12, 10), (4, 3), (3, 2), (16, 9), (5, 4), (2, 1)]

    /// The size header, behind the signature (ISO/IEC 18181-1, D.2): as it is coded, before it is
    /// turned.
    var jxlSize: PixelSize? {
        // At most 44 bits: one, two sides of 20, and three for the ratio.
        guard let start = jxlCodestream, bigEndian(2, at: start) == 0xFF0A,
            let header = littleEndian(6, at: start + 2)
        else { return nil }
        var bits = JXLBits(header)
        let isSmall = bits.take(1) == 1
        guard let height = bits.side(isSmall: isSmall) else { return nil }
        let ratio = bits.take(3)
        if ratio > 0 {
            let (width, per) = Self.jxlRatios[ratio - 1]
            return PixelSize(width: height * width / per, height: height)
        }
        return bits.side(isSmall: isSmall).map { PixelSize(width: $0, height: height) }
    }
}
