internal import CAVIF

/// What a file says of its primary image, or of its frames, as they are stored.
public struct AVIFPicture: Equatable, Sendable {
    /// Which samples of colour there are.
    public enum Chroma: Sendable {
        /// None.
        case grey
        /// One for four pixels.
        case yuv420
        /// One for two pixels beside each other.
        case yuv422
        /// One for each.
        case yuv444

        /// Base 2 logarithm of the columns for each sample.
        public var horizontalLog2: Int { self == .yuv444 ? 0 : 1 }
        /// The same for rows.
        public var verticalLog2: Int { self == .yuv420 ? 1 : 0 }
    }

    /// Where a sample of colour lies among its pixels.
    public enum Siting: Sendable {
        /// The file does not say.
        case unknown
        /// Beside the left of them, vertically in the middle.
        case left
        /// With the first of them.
        case topLeft
    }

    /// How the pixels are mirrored to display them, after they were turned.
    public enum Mirroring: Sendable {
        case none
        /// Top and bottom are exchanged.
        case vertical
        /// Left and right are exchanged.
        case horizontal
    }

    /// Whole columns and rows of a picture, from the top left on.
    public struct Part: Equatable, Sendable {
        /// Columns and rows in front of it.
        public let x, y: Int
        /// Columns and rows of it.
        public let width, height: Int
    }

    /// Columns.
    public let width: Int
    /// Rows.
    public let height: Int
    /// Bits of a sample: 8, 10 or 12.
    public let depth: Int
    /// The samples of colour.
    public let chroma: Chroma
    /// Whether there is a plane of alpha besides.
    public let hasAlpha: Bool
    /// Whether an ICC profile says what the colours are; the next two numbers do not count then.
    public let hasProfile: Bool
    /// `ColourPrimaries` of ITU-T H.273; 2 where the file does not say.
    public let primaries: Int
    /// `TransferCharacteristics`, likewise.
    public let transfer: Int
    /// `MatrixCoefficients`, likewise.
    public let matrix: Int
    /// Black is 16 and white 235.
    public let isLimited: Bool
    /// Where colours lie.
    public let siting: Siting
    /// Only a part is displayed (`clap`).
    public let isCropped: Bool
    /// That part, before it is turned; nil where all is displayed, and for one that cannot be.
    public let part: Part?
    /// Quarters by which it is turned clockwise to display it, 0 to 3.
    public let quarterTurns: Int
    /// How it is mirrored to display it.
    public let mirroring: Mirroring

    init(_ picture: cavif_picture) {
        width = Int(picture.width)
        height = Int(picture.height)
        depth = Int(picture.depth)
        chroma = Chroma(picture.chroma)
        hasAlpha = picture.has_alpha != 0
        hasProfile = picture.has_profile != 0
        primaries = Int(picture.primaries)
        transfer = Int(picture.transfer)
        matrix = Int(picture.matrix)
        isLimited = picture.is_limited != 0
        siting = picture.siting == 1 ? .left : picture.siting == 2 ? .topLeft : .unknown
        isCropped = picture.is_cropped != 0
        part =
            picture.crop_width == 0
            ? nil
            : Part(
                x: Int(picture.crop_x), y: Int(picture.crop_y), width: Int(picture.crop_width),
                height: Int(picture.crop_height))
        quarterTurns = (4 - Int(picture.turns)) % 4
        mirroring =
            picture.mirrored == 1 ? .vertical : picture.mirrored == 2 ? .horizontal : .none
    }

    /// All of it.
    public var whole: Part { Part(x: 0, y: 0, width: width, height: height) }

    /// Planes that it has: 1 or 3.
    public var planeCount: Int { chroma == .grey ? 1 : 3 }

    /// Columns and rows of Y, of Cb or of Cr: of half of an odd number, the larger half.
    public func size(ofPlane index: Int) -> (width: Int, height: Int) {
        guard index > 0 else { return (width, height) }
        let (across, down) = (chroma.horizontalLog2, chroma.verticalLog2)
        return ((width + across) >> across, (height + down) >> down)
    }
}

extension AVIFPicture.Chroma {
    init(_ chroma: cavif_chroma) {
        self =
            switch chroma {
            case CAVIF_420: .yuv420
            case CAVIF_422: .yuv422
            case CAVIF_444: .yuv444
            default: .grey
            }
    }
}
