internal import ImageModel

/// The samples of an image as a number of a byte: their bits, 0 for the usual 8, and the highest
/// bit for a high dynamic range.
struct StoredSamples {
    let bits: Int
    let isHDR: Bool

    private static let highRange = 0x80

    init(_ info: ImageInfo) { (bits, isHDR) = (info.bits, info.isHDR) }

    /// `nil` for what is none.
    init?(_ number: Int64) {
        guard (0...0xFF).contains(number) else { return nil }
        let bits = Int(number) & ~Self.highRange
        guard bits == 0 || ImageInfo.bitsRange.contains(bits) else { return nil }
        self.bits = bits == 0 ? 8 : bits
        isHDR = Int(number) & Self.highRange != 0
    }

    var number: UInt8 {
        UInt8((bits == 8 ? 0 : bits) | (isHDR ? Self.highRange : 0))
    }
}
