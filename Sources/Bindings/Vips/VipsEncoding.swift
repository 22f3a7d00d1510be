/// How `VipsImage.save` writes an image. Metadata, profiles included, is left out unless a case
/// says otherwise.
public enum VipsEncoding: Sendable, Equatable {
    /// - Parameters:
    ///   - quality: 1 to 100; libjpeg's scale.
    ///   - progressive: several scans; needs the whole image in memory.
    ///   - optimised: a second pass finds the best Huffman tables: smaller, slower.
    ///   - subsampling: how many samples of chroma there are.
    case jpeg(
        quality: Int, progressive: Bool = false, optimised: Bool = false,
        subsampling: Subsampling = .auto)

    /// - Parameters:
    ///   - compression: 0 to 9, zlib's levels.
    ///   - filter: what is done to rows before they are compressed.
    ///   - interlaced: Adam7; needs the whole image in memory.
    ///   - palette: nil: every sample as it is.
    case png(
        compression: Int, filter: PNGFilter = .none, interlaced: Bool = false,
        palette: Palette? = nil)

    /// - Parameters:
    ///   - quality: 0 to 100; of a lossless image, how hard to try.
    ///   - lossless: every visible pixel as it was.
    ///   - effort: 0 fast to 6 small.
    case webp(quality: Int, lossless: Bool = false, effort: Int = 4)

    /// One frame.
    ///
    /// - Parameters:
    ///   - bits: the power of two that is the number of colours, 1 to 8.
    ///   - dither: 0 to 1: how much of the error of a pixel goes to its neighbours.
    ///   - effort: 1 (fast) to 10 (best) for the colours.
    ///   - interlaced: rows in four passes.
    case gif(bits: Int = 8, dither: Double = 1, effort: Int = 7, interlaced: Bool = false)

    /// One page, every sample as it is, deflated.
    ///
    /// - Parameters:
    ///   - predicts: each sample is stored as the difference to the one before it, which makes
    ///     photographs smaller.
    ///   - encloses: profile and XMP of the image are written too.
    case tiff(predicts: Bool, encloses: Bool = false)

    /// Only where the library was told to permit `VipsSaver.jxl`.
    ///
    /// - Parameters:
    ///   - quality: 5 to 100; below, libjxl has no distance for it.
    ///   - lossless: every sample as it was.
    ///   - effort: 3 fast to 9 small.
    ///   - encloses: the profile of the image is written too.
    case jxl(quality: Int, lossless: Bool = false, effort: Int = 7, encloses: Bool = false)

    /// How many samples of chroma are stored; the values are libvips'.
    public enum Subsampling: Int, Sendable {
        /// One for four pixels below quality 90, else one for each.
        case auto = 0
        /// One for four pixels.
        case quarter = 1
        /// One for each.
        case full = 2
    }

    /// Colours of an image that has few of them.
    public struct Palette: Sendable, Equatable {
        /// As a power of two, 1 to 8: two colours to 256. A PNG has 1, 2, 4 or 8.
        public var bits: Int
        /// 0 to 100: how much like the image it must be; fewer colours suffice for less.
        public var quality: Int
        /// 0 to 1: how much of the error of a pixel goes to its neighbours.
        public var dither: Double
        /// 1 (fast) to 10 (best).
        public var effort: Int

        /// A palette that is like the image as far as it can be, unless told otherwise.
        public init(bits: Int = 8, quality: Int = 100, dither: Double = 1, effort: Int = 7) {
            (self.bits, self.quality) = (bits, quality)
            (self.dither, self.effort) = (dither, effort)
        }
    }

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
