package import ImageModel

/// Pixels of a PNG with a palette, as the stack writes it where a number of colours is asked for:
/// one pass, indexes of 8 bits.
package struct IndexedPixels: Hashable, Sendable {
    /// Columns and rows.
    package let size: PixelSize
    /// Red, green, blue and alpha of each colour, 256 at most.
    package let palette: [[UInt8]]
    /// The colour of each pixel, row by row from the top.
    package let indexes: [UInt8]

    /// Takes indexes of the palette alone, as many as the size says.
    package init(size: PixelSize, palette: [[UInt8]], indexes: [UInt8]) {
        (self.size, self.palette, self.indexes) = (size, palette, indexes)
    }

    /// Throws `unsupportedFormat` for another PNG, and `badImageData` for what is none and for
    /// colours that are not there.
    package init(png file: UnsafeRawBufferPointer) throws(ImageError) {
        let header = try PNGPixels.Header(indexed: file)
        var rows = try PNGPixels.inflate(PNGPixels.data(of: file), header)
        guard PNGRows(1).undo(&rows, header) else { throw PNGPixels.broken("a filter is unknown") }
        let width = header.size.width
        var indexes: [UInt8] = []
        indexes.reserveCapacity(width * header.size.height)
        for y in 0..<header.size.height {
            indexes += rows[(y * (width + 1) + 1)..<((y + 1) * (width + 1))]
        }
        let palette = Self.palette(of: file)
        guard Int(indexes.max() ?? 0) < palette.count else {
            throw PNGPixels.broken("a colour is missing")
        }
        self.init(size: header.size, palette: palette, indexes: indexes)
    }

    /// `PLTE`, and what `tRNS` says of its first colours.
    private static func palette(of file: UnsafeRawBufferPointer) -> [[UInt8]] {
        let colours = PNGPixels.chunks(0x504C_5445, of: file).first
        let alphas = PNGPixels.chunks(0x7452_4E53, of: file).first
        guard let colours else { return [] }
        return (0..<min(256, colours.count / 3)).map { index -> [UInt8] in
            var alpha: UInt8 = 255
            if let alphas, index < alphas.count { alpha = alphas[index] }
            return [colours[3 * index], colours[3 * index + 1], colours[3 * index + 2], alpha]
        }
    }
}
