/// The pixel layout stated by the headers of a BMP, or of a bitmap in an icon.
package struct BitmapHeader: Hashable, Sendable {
    /// How pixels are encoded.
    package enum Coding: Hashable, Sendable {
        /// Uncompressed.
        case plain
        /// Run-length encoded.
        case runs
        /// Any other encoding, such as an embedded JPEG for printers.
        case unknown
    }

    /// Columns and rows. In an icon the rows of the mask are included.
    package let size: PixelSize
    /// Bits per pixel.
    package let depth: Int
    /// Whether the first row is the top one.
    package let isTopDown: Bool
    /// The pixel encoding.
    package let coding: Coding
    /// The bit masks of red, green, blue and alpha in a pixel of 16 or 32 bits; 0 for an absent
    /// channel.
    package var masks: [Int]
    /// The range of the palette in the file; entries are in the order blue, green, red.
    package let palette: Range<Int>
    /// The size in bytes of a palette entry.
    package let paletteEntryBytes: Int
    /// The offset of the first row.
    package let pixels: Int
    /// The range of an ICC profile in the file.
    package let profile: Range<Int>?

    /// Whether there is an alpha mask.
    package var hasAlpha: Bool { masks[3] != 0 }

    /// The row stride in bytes, a multiple of four.
    package var rowBytes: Int { (size.width * depth + 31) / 32 * 4 }

    /// Returns the size in bytes of the given number of rows, the last one without padding.
    package func storedBytes(rows: Int) -> Int {
        // Sides are below 2³¹ and pixels have at most 32 bits.
        let (bytes, overflow) = rowBytes.multipliedReportingOverflow(by: rows - 1)
        return overflow || bytes > 1 << 62 ? .max : bytes + (size.width * depth + 7) / 8
    }
}

extension HeaderBytes {
    private static let coreHeader = 12
    /// From the OS/2 2 header, which may be truncated after its first fields, to the longest
    /// Windows one.
    private static let longHeaders = 16...124
    private static let windowsHeader = 40
    private static let os2Header = 64
    private static let depths: Set<Int> = [1, 2, 4, 8, 16, 24, 32]

    /// The header of a BMP file, which follows a 14-byte file header that holds the pixel offset.
    package var bitmap: BitmapHeader? {
        has("BM", at: 0) ? bitmapHeader(at: 14, pixels: littleEndian(4, at: 10)) : nil
    }

    /// Parses the bitmap header at `start`; sides are at least 1. If the stated pixel offset lies
    /// within the headers, the pixels follow the headers.
    func bitmapHeader(at start: Int, pixels stated: Int? = nil) -> BitmapHeader? {
        guard let length = littleEndian(4, at: start) else { return nil }
        let isCore = length == Self.coreHeader
        guard isCore || Self.longHeaders.contains(length),
            let size = isCore ? coreSize(at: start) : bitmapSize(at: start),
            let depth = littleEndian(2, at: start + (isCore ? 10 : 14))
        else { return nil }
        // Fields beyond the end of the header are 0.
        func field(at offset: Int) -> Int {
            offset + 4 <= length ? littleEndian(4, at: start + offset) ?? 0 : 0
        }
        let compression = field(at: 16)
        let masks = masks(at: start, length, depth, compression)
        let hasMasksBehind = length == Self.windowsHeader && depth > 8
        let masksBehind = hasMasksBehind ? [3: 12, 6: 16][compression] ?? 0 : 0
        let entryBytes = isCore ? 3 : 4
        let palette = palette(
            at: start + length + masksBehind, depth: depth, used: field(at: 32), entryBytes, stated)
        return BitmapHeader(
            size: size, depth: depth,
            isTopDown: !isCore && Int32(truncatingIfNeeded: field(at: 8)) < 0,
            coding: coding(compression, depth, isOS2: length < 40 || length == Self.os2Header),
            masks: masks, palette: palette, paletteEntryBytes: entryBytes,
            pixels: max(stated ?? 0, palette.upperBound), profile: profile(at: start, length))
    }

    /// The ICC profile, which only the longest header can embed.
    private func profile(at start: Int, _ length: Int) -> Range<Int>? {
        guard length == Self.longHeaders.upperBound, has("DEBM", at: start + 56),
            let offset = littleEndian(4, at: start + 112),
            let count = littleEndian(4, at: start + 116), count > 0,
            byte(start + offset + count - 1) != nil
        else { return nil }
        return start + offset..<start + offset + count
    }

    private func coding(_ compression: Int, _ depth: Int, isOS2: Bool) -> BitmapHeader.Coding {
        guard Self.depths.contains(depth) else { return .unknown }
        return switch (compression, depth) {
        case (0, _): .plain
        case (1, 8), (2, 4): .runs
        case (3, 16), (3, 32), (6, 16), (6, 32): isOS2 ? .unknown : .plain
        default: .unknown
        }
    }

    /// The masks, which follow the Windows 3 fields whether the header is longer or ends there.
    private func masks(at start: Int, _ length: Int, _ depth: Int, _ compression: Int) -> [Int] {
        guard [3, 6].contains(compression), depth > 8 else {
            return depth == 16 ? [0x7C00, 0x3E0, 0x1F, 0] : [0xFF_0000, 0xFF00, 0xFF, 0]
        }
        let hasAlpha = compression == 6 || (length >= 56 && length != Self.os2Header)
        return (0..<4).map { band in
            band == 3 && !hasAlpha ? 0 : littleEndian(4, at: start + 40 + 4 * band) ?? 0
        }
    }

    /// The range of the palette: as many colors as are used or possible, limited to the space
    /// before the pixels.
    private func palette(
        at start: Int, depth: Int, used: Int, _ entryBytes: Int, _ pixels: Int?
    ) -> Range<Int> {
        guard depth <= 8 else { return start..<start }
        let most = 1 << depth
        let count = used == 0 ? most : min(used, most)
        let end = start + count * entryBytes
        guard let pixels, pixels >= start else { return start..<end }
        return start..<min(end, pixels)
    }

    /// A negative number of rows means that the first row is the top one.
    private func bitmapSize(at start: Int) -> PixelSize? {
        guard let width = littleEndian(4, at: start + 4), width <= Int(Int32.max),
            let rows = littleEndian(4, at: start + 8)
        else { return nil }
        let size = PixelSize(
            width: width, height: abs(Int(Int32(truncatingIfNeeded: rows))))
        return size.isPositive && size.height <= Int(Int32.max) ? size : nil
    }

    private func coreSize(at start: Int) -> PixelSize? {
        littleSides(2, at: start + 4).flatMap { $0.isPositive ? $0 : nil }
    }
}

/// One image of a Windows icon or cursor.
package struct IconImage: Hashable, Sendable {
    /// The range of its bytes in the file.
    package let range: Range<Int>
    /// The size from the image's own header.
    package let size: PixelSize
    /// Bits per pixel.
    package let depth: Int
    /// The bitmap header, whose rows include the mask behind the pixels; `nil` for an embedded PNG.
    package let bitmap: BitmapHeader?
}

extension HeaderBytes {
    private static let iconHeader = 6
    private static let iconEntry = 16

    /// The number of images that the file declares.
    package var iconCount: Int? {
        guard [0x0000_0100, 0x0000_0200].contains(bigEndian(4, at: 0)),
            let count = littleEndian(2, at: 4), count > 0
        else { return nil }
        return count
    }

    /// The largest image; among equals the deepest, then the first. `nil` if no image is complete
    /// and readable.
    package var largestIcon: IconImage? {
        var best: IconImage?
        for index in 0..<(iconCount ?? 0) {
            guard let image = icon(at: Self.iconHeader + index * Self.iconEntry) else { continue }
            if let best, !Self.isLarger(image, best) { continue }
            best = image
        }
        return best
    }

    private static func isLarger(_ image: IconImage, _ other: IconImage) -> Bool {
        let (area, others) = (image.size.area ?? 0, other.size.area ?? 0)
        return area == others ? image.depth > other.depth : area > others
    }

    private func icon(at entry: Int) -> IconImage? {
        guard let length = littleEndian(4, at: entry + 8), length > 0,
            let start = littleEndian(4, at: entry + 12), byte(start + length - 1) != nil
        else { return nil }
        let range = start..<(start + length)
        if bigEndian(7, at: start) == 0x8950_4E47_0D0A_1A { return iconPNG(range) }
        guard var bitmap = bitmapHeader(at: start), bitmap.size.height >= 2 else { return nil }
        // In icons the fourth byte is alpha unless masks are stated.
        if bitmap.depth == 32, bitmap.masks == [0xFF_0000, 0xFF00, 0xFF, 0] {
            bitmap.masks[3] = 0xFF00_0000
        }
        let size = PixelSize(width: bitmap.size.width, height: bitmap.size.height / 2)
        return IconImage(range: range, size: size, depth: bitmap.depth, bitmap: bitmap)
    }

    /// Parses an IHDR chunk (PNG specification, 11.2.2); the color type gives the samples per
    /// pixel.
    private func iconPNG(_ range: Range<Int>) -> IconImage? {
        let start = range.lowerBound
        guard has("IHDR", at: start + 12), let size = sides(4, at: start + 16),
            let bits = byte(start + 24), let type = byte(start + 25)
        else { return nil }
        let samples = [2: 3, 4: 2, 6: 4][type] ?? 1
        return size.isPositive
            ? IconImage(range: range, size: size, depth: Int(bits) * samples, bitmap: nil) : nil
    }
}
