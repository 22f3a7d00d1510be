/// How planes become a JPEG. Nothing but a JFIF header goes before them: no EXIF, no profile.
public struct JPEGEncoding: Equatable, Sendable {
    /// How much smaller than luma the planes of chroma are.
    public enum Subsampling: Sendable {
        /// One plane, no colours.
        case grey
        /// As large.
        case yuv444
        /// Half of the columns.
        case yuv422
        /// Half of the rows.
        case yuv440
        /// Half of both.
        case yuv420
    }

    /// Columns of luma, 1 to 65,500.
    public var width: Int
    /// Rows of luma, 1 to 65,500.
    public var height: Int
    /// Which planes there are.
    public var subsampling: Subsampling
    /// 1 to 100, libjpeg's scale.
    public var quality: Int
    /// Whether a rough image comes first; all coefficients are held in memory then.
    public var isProgressive: Bool
    /// Whether the Huffman tables are made for this image: some percent fewer bytes for a second
    /// pass. A progressive one always has its own.
    public var optimisesCoding: Bool

    /// Baseline with the standard's Huffman tables, unless told otherwise.
    public init(
        width: Int, height: Int, subsampling: Subsampling, quality: Int,
        isProgressive: Bool = false, optimisesCoding: Bool = false
    ) {
        self.width = width
        self.height = height
        self.subsampling = subsampling
        self.quality = quality
        self.isProgressive = isProgressive
        self.optimisesCoding = optimisesCoding
    }

    /// 1 or 3.
    public var planeCount: Int { subsampling == .grey ? 1 : 3 }

    /// Columns and rows of one plane: of half of an odd number, the larger half.
    public func size(ofPlane index: Int) -> (width: Int, height: Int) {
        guard index > 0 else { return (width, height) }
        let factors = subsampling.factors
        return (
            (width + factors.horizontal - 1) / factors.horizontal,
            (height + factors.vertical - 1) / factors.vertical
        )
    }
}

extension JPEGEncoding.Subsampling {
    /// Samples of luma for each of chroma.
    var factors: (horizontal: Int, vertical: Int) {
        switch self {
        case .grey, .yuv444: (1, 1)
        case .yuv422: (2, 1)
        case .yuv440: (1, 2)
        case .yuv420: (2, 2)
        }
    }
}
