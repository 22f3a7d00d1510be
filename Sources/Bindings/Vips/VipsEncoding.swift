/// How `VipsImage.save` writes an image. Metadata, profiles included, is left out of each.
public enum VipsEncoding: Sendable, Equatable {
    /// - Parameters:
    ///   - quality: 1 to 100; chroma is subsampled below 90.
    ///   - progressive: several scans; needs the whole image in memory.
    ///   - optimised: a second pass finds the best Huffman tables: smaller, slower.
    case jpeg(quality: Int, progressive: Bool = false, optimised: Bool = false)

    /// - Parameters:
    ///   - compression: 0 to 9, zlib's levels.
    ///   - filter: what is done to rows before they are compressed.
    ///   - interlaced: Adam7; needs the whole image in memory.
    case png(compression: Int, filter: PNGFilter = .none, interlaced: Bool = false)

    /// - Parameters:
    ///   - quality: 0 to 100; of a lossless image, how hard to try.
    ///   - lossless: every visible pixel as it was.
    ///   - effort: 0 fast to 6 small.
    case webp(quality: Int, lossless: Bool = false, effort: Int = 4)

    /// The row filters of PNG; the values are libpng's bits.
    public enum PNGFilter: Int, Sendable {
        case none = 0x08
        case sub = 0x10
        case up = 0x20
        case paeth = 0x80
        /// The best of all for each row: smaller for photographs, several times slower.
        case adaptive = 0xF8
    }
}
