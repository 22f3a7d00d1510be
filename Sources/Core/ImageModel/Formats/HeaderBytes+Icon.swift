/// One image of an icon or cursor of Windows.
package struct IconImage: Hashable, Sendable {
    /// Where its bytes lie in the file.
    package let range: Range<Int>
    /// As its own header says.
    package let size: PixelSize
    /// Bits of a pixel.
    package let depth: Int
    /// Its header; `nil` for a whole PNG. A mask lies behind the pixels, and counts as rows.
    package let bitmap: BitmapHeader?
}

extension HeaderBytes {
    private static let iconHeader = 6
    private static let iconEntry = 16

    /// How many images a file says that it has.
    package var iconCount: Int? {
        guard [0x0000_0100, 0x0000_0200].contains(bigEndian(4, at: 0)),
            let count = littleEndian(2, at: 4), count > 0
        else { return nil }
        return count
    }

    /// The largest image, and of several the deepest, then the first; `nil` where none lies in the
    /// file whole and can be read.
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
        // Here the fourth byte is alpha unless masks say otherwise.
        if bitmap.depth == 32, bitmap.masks == [0xFF_0000, 0xFF00, 0xFF, 0] {
            bitmap.masks[3] = 0xFF00_0000
        }
        let size = PixelSize(width: bitmap.size.width, height: bitmap.size.height / 2)
        return IconImage(range: range, size: size, depth: bitmap.depth, bitmap: bitmap)
    }

    /// What IHDR says (PNG specification, 11.2.2): the samples of a pixel by the type of colours.
    private func iconPNG(_ range: Range<Int>) -> IconImage? {
        let start = range.lowerBound
        guard has("IHDR", at: start + 12), let width = bigEndian(4, at: start + 16),
            let height = bigEndian(4, at: start + 20), let bits = byte(start + 24),
            let type = byte(start + 25), max(width, height) <= Int(Int32.max)
        else { return nil }
        let size = PixelSize(width: width, height: height)
        let samples = [2: 3, 4: 2, 6: 4][type] ?? 1
        return size.isPositive
            ? IconImage(range: range, size: size, depth: Int(bits) * samples, bitmap: nil) : nil
    }
}
