/// What the headers of a BMP, or of the same in an icon, say of its pixels.
package struct BitmapHeader: Hashable, Sendable {
    /// In an icon the rows of its mask count as well.
    package let size: PixelSize
    /// Bits of a pixel.
    package let depth: Int
    /// Whether a mask says which bits are alpha.
    package let hasAlpha: Bool
    /// Whether its pixels are compressed in a way that BMP itself defines, or not at all; else they
    /// are a JPEG or PNG for a printer.
    package let isPlain: Bool
    /// Whether they are compressed in any way.
    package let isCompressed: Bool

    /// Bytes of all rows, each of them whole words of four bytes; `nil` where they are compressed.
    package var storedBytes: Int? {
        guard !isCompressed, (0...64).contains(depth) else { return nil }
        // Sides are below 2³¹.
        let (bytes, overflow) = ((size.width * depth + 31) / 32 * 4)
            .multipliedReportingOverflow(by: size.height)
        return overflow ? .max : bytes
    }
}

extension HeaderBytes {
    /// The lengths of the headers that Windows and OS/2 have written.
    private static let bitmapHeaders: Set<Int> = [40, 52, 56, 64, 108, 124]
    private static let coreHeader = 12
    /// Compression by masks, one for each colour.
    private static let bitFields = 3
    /// From the start of the header to the mask of alpha, in headers that are long enough for it.
    private static let alphaMask = 52

    /// Of a BMP file, whose own header has 14 bytes.
    package var bitmap: BitmapHeader? { has("BM", at: 0) ? bitmapHeader(at: 14) : nil }

    /// Where the header of a bitmap begins; sides are at least 1.
    func bitmapHeader(at start: Int) -> BitmapHeader? {
        guard let length = littleEndian(4, at: start) else { return nil }
        if length == Self.coreHeader { return coreHeader(at: start) }
        guard Self.bitmapHeaders.contains(length), let depth = littleEndian(2, at: start + 14),
            let size = bitmapSize(at: start), let compression = littleEndian(4, at: start + 16)
        else { return nil }
        let mask = length >= 56 && length != 64 ? littleEndian(4, at: start + Self.alphaMask) : nil
        return BitmapHeader(
            size: size, depth: depth,
            hasAlpha: depth == 32 && compression == Self.bitFields && mask ?? 0 != 0,
            isPlain: compression <= Self.bitFields,
            isCompressed: compression != 0 && compression != Self.bitFields)
    }

    /// A negative number of rows says that the first one is the topmost.
    private func bitmapSize(at start: Int) -> PixelSize? {
        guard let width = littleEndian(4, at: start + 4), width <= Int(Int32.max),
            let rows = littleEndian(4, at: start + 8)
        else { return nil }
        let size = PixelSize(
            width: width, height: abs(Int(Int32(truncatingIfNeeded: rows))))
        return size.isPositive && size.height <= Int(Int32.max) ? size : nil
    }

    private func coreHeader(at start: Int) -> BitmapHeader? {
        guard let width = littleEndian(2, at: start + 4),
            let height = littleEndian(2, at: start + 6),
            let depth = littleEndian(2, at: start + 10)
        else { return nil }
        let size = PixelSize(width: width, height: height)
        guard size.isPositive else { return nil }
        return BitmapHeader(
            size: size, depth: depth, hasAlpha: false, isPlain: true, isCompressed: false)
    }
}
