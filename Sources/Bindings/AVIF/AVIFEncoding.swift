internal import CAVIF

/// How pixels become an AVIF: 8 bits, sRGB, by libaom on one thread; other colours
/// where a profile says so.
public struct AVIFEncoding: Equatable, Sendable {
    /// Which samples of colour there are.
    public enum Chroma: Sendable {
        /// None.
        case grey
        /// One for four pixels.
        case yuv420
        /// One for each.
        case yuv444
    }

    /// Columns, 1 to 65,536.
    public var width: Int
    /// Rows, 1 to 65,536.
    public var height: Int
    /// How many samples of colour are stored.
    public var chroma: Chroma
    /// 0 to 100; see `quantizer(ofQuality:)`.
    public var quality: Int
    /// The quality of alpha, 0 to 100; 100 loses nothing.
    public var alphaQuality: Int
    /// libavif's: 0 slow and small to 9 fast.
    public var speed: Int
    /// Whether every pixel comes back as it was; colours are stored as RGB then, one for each
    /// pixel.
    public var isLossless: Bool
    /// Bits of a sample: 8, 10 or 12.
    public var depth = 8
    /// By the numbers of ITU-T H.273; `nil`: sRGB. Not beside a profile.
    public var colours: Colours?
    /// The ICC profile of the colours; empty: sRGB. The encoder does not read it.
    public var profile: [UInt8] = []
    /// EXIF from the header of its TIFF on; empty: none.
    public var exif: [UInt8] = []
    /// An XMP packet; empty: none.
    public var xmp: [UInt8] = []

    /// Colours by their numbers.
    public struct Colours: Sendable, Equatable {
        /// Of the chromaticities: 1, 9 or 12.
        public var primaries: UInt8
        /// Of the curve, such as 16 and 18.
        public var transfer: UInt8

        /// Names colours.
        public init(primaries: UInt8, transfer: UInt8) {
            (self.primaries, self.transfer) = (primaries, transfer)
        }
    }

    /// Lossy, and as fast as a server wants it, unless told otherwise.
    public init(
        width: Int, height: Int, chroma: Chroma, quality: Int, alphaQuality: Int = 100,
        speed: Int = 8, isLossless: Bool = false
    ) {
        self.width = width
        self.height = height
        self.chroma = chroma
        self.quality = quality
        self.alphaQuality = alphaQuality
        self.speed = speed
        self.isLossless = isLossless
    }

    /// libaom's quantizer of a quality with loss: 1, the finest, at 100 to 63 at 0, linear between
    /// them and rounded. 0 would be without loss.
    public static func quantizer(ofQuality quality: Int) -> Int {
        1 + ((100 - quality) * 62 + 50) / 100
    }

    /// Planes that are encoded: 1 or 3.
    public var planeCount: Int { chroma == .grey ? 1 : 3 }

    /// Columns and rows of Y, of U or of V: of half of an odd number, the larger half.
    public func size(ofPlane index: Int) -> (width: Int, height: Int) {
        index == 0 || chroma != .yuv420
            ? (width, height) : ((width + 1) / 2, (height + 1) / 2)
    }

    /// The largest side that AV1 has.
    public static let sideMax = 65_536
    /// The fastest `speed`.
    public static let speedMax = 9

    var isPossible: Bool {
        (1...Self.sideMax).contains(width) && (1...Self.sideMax).contains(height)
            && (0...100).contains(quality) && (0...100).contains(alphaQuality)
            && (0...Self.speedMax).contains(speed) && [8, 10, 12].contains(depth)
    }

    /// Runs `body` with what libavif is told, which is valid for that call only.
    func withShim<Result>(_ body: (cavif_encoding) -> Result) -> Result {
        profile.withShim { profile in
            exif.withShim { exif in
                xmp.withShim { xmp in body(shim(profile, exif, xmp)) }
            }
        }
    }

    private func shim(
        _ profile: cavif_bytes, _ exif: cavif_bytes, _ xmp: cavif_bytes
    ) -> cavif_encoding {
        cavif_encoding(
            width: CInt(width), height: CInt(height),
            chroma: isLossless ? CAVIF_444 : chroma.shim,
            quantizer: isLossless ? 0 : CInt(Self.quantizer(ofQuality: quality)),
            alpha_quantizer: isLossless || alphaQuality == 100
                ? 0 : CInt(Self.quantizer(ofQuality: alphaQuality)),
            speed: CInt(speed), depth: CInt(depth), primaries: CInt(colours?.primaries ?? 0),
            transfer: CInt(colours?.transfer ?? 0), is_identity: isLossless ? 1 : 0,
            profile: profile, exif: exif, xmp: xmp)
    }
}

extension [UInt8] {
    fileprivate func withShim<Result>(_ body: (cavif_bytes) -> Result) -> Result {
        withUnsafeBufferPointer { body(cavif_bytes(bytes: $0.baseAddress, count: $0.count)) }
    }
}

extension AVIFEncoding.Chroma {
    fileprivate var shim: cavif_chroma {
        switch self {
        case .grey: CAVIF_GREY
        case .yuv420: CAVIF_420
        case .yuv444: CAVIF_444
        }
    }
}
