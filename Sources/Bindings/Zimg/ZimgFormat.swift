/// One image in planes, as a graph takes or gives it.
public struct ZimgFormat: Hashable, Sendable {
    /// How the planes make colours, in the order of the planes.
    public enum Planes: Hashable, Sendable {
        /// One plane.
        case grey
        /// R, G, B.
        case rgb
        /// Y, Cb, Cr.
        case yCbCr(ZimgSubsampling)
    }

    /// How Y, Cb and Cr are made of red, green and blue.
    public enum Matrix: Hashable, Sendable {
        /// As in JFIF.
        case bt601
        /// As in HDTV.
        case bt709
    }

    /// Which numbers black and white have.
    public enum Range: Hashable, Sendable {
        /// 0 to 255, chroma around 128: JPEG, PNG.
        case full
        /// 16 to 235, chroma 16 to 240: WebP.
        case limited
    }

    /// The size of a sample.
    public enum Depth: Int, Hashable, Sendable {
        /// 0 to 255.
        case eight = 1
        /// 0 to 65,535, in the machine's order.
        case sixteen = 2

        /// Bytes of a sample.
        public var bytes: Int { rawValue }
    }

    /// Columns of the first plane.
    public var width: Int
    /// Rows of the first plane.
    public var height: Int
    /// The planes.
    public var planes: Planes
    /// Of Y, Cb and Cr; of no effect on other planes.
    public var matrix: Matrix
    /// The range of all planes.
    public var range: Range
    /// The size of all samples.
    public var depth: Depth
    /// What of the first plane is image; nil is all. Only of what a graph takes.
    public var region: ZimgRegion?

    /// A format; a graph refuses what zimg cannot do.
    ///
    /// Width and height must be divisible by the subsampling. Of an image that is not, describe
    /// one that is a column or row larger: the source has such a column where its planes are
    /// padded, and `region` says where the image ends; the target gets a column too many, whose
    /// source is found by enlarging `region` in the same proportion (it may lie beyond the source).
    public init(
        width: Int, height: Int, planes: Planes, matrix: Matrix = .bt601, range: Range = .full,
        depth: Depth = .eight, region: ZimgRegion? = nil
    ) {
        self.width = width
        self.height = height
        self.planes = planes
        self.matrix = matrix
        self.range = range
        self.depth = depth
        self.region = region
    }

    /// 1 or 3.
    public var planeCount: Int { planes == .grey ? 1 : 3 }

    /// Columns and rows of one plane.
    public func size(ofPlane index: Int) -> (width: Int, height: Int) {
        guard index > 0, case .yCbCr(let subsampling) = planes else { return (width, height) }
        return (width >> subsampling.horizontalLog2, height >> subsampling.verticalLog2)
    }
}

/// How much smaller the planes of chroma are than that of luma.
public struct ZimgSubsampling: Hashable, Sendable {
    /// Where a sample of chroma lies among its samples of luma.
    public enum Siting: Hashable, Sendable {
        /// In their middle: JPEG, WebP.
        case centre
        /// Beside the left of them, vertically in the middle: MPEG-2.
        case left
        /// With the first of them: BT.2020.
        case topLeft
    }

    /// Base 2 logarithm of the columns of luma for each of chroma: 0 to 2.
    public let horizontalLog2: Int
    /// The same for rows.
    public let verticalLog2: Int
    /// Where chroma lies; of no effect in a direction without subsampling.
    public let siting: Siting

    /// No chroma is left out.
    public static let yuv444 = ZimgSubsampling(horizontalLog2: 0, verticalLog2: 0)
    /// Half of the columns.
    public static let yuv422 = ZimgSubsampling(horizontalLog2: 1, verticalLog2: 0)
    /// Half of the rows.
    public static let yuv440 = ZimgSubsampling(horizontalLog2: 0, verticalLog2: 1)
    /// Half of both.
    public static let yuv420 = ZimgSubsampling(horizontalLog2: 1, verticalLog2: 1)
    /// A quarter of the columns.
    public static let yuv411 = ZimgSubsampling(horizontalLog2: 2, verticalLog2: 0)

    /// Any other.
    public init(horizontalLog2: Int, verticalLog2: Int, siting: Siting = .centre) {
        self.horizontalLog2 = horizontalLog2
        self.verticalLog2 = verticalLog2
        self.siting = siting
    }
}

/// A rectangle in fractions of a sample of the first plane. It may reach beyond the plane, whose
/// edge is then repeated.
public struct ZimgRegion: Hashable, Sendable {
    /// From the left edge of the first column.
    public let left: Double
    /// From the upper edge of the first row.
    public let top: Double
    /// More than 0.
    public let width: Double
    /// More than 0.
    public let height: Double

    /// A rectangle.
    public init(left: Double = 0, top: Double = 0, width: Double, height: Double) {
        self.left = left
        self.top = top
        self.width = width
        self.height = height
    }

    var isFinite: Bool {
        left.isFinite && top.isFinite && width.isFinite && height.isFinite
    }
}
