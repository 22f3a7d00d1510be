internal import CWebP

/// How pixels become a WebP. Nothing goes beside them: no EXIF, no profile.
public struct WebPEncoding: Equatable, Sendable {
    /// Columns, 1 to 16,383.
    public var width: Int
    /// Rows, 1 to 16,383.
    public var height: Int
    /// 0 to 100; of a lossless image, how much is tried to make it small.
    public var quality: Int
    /// 0, the fastest, to 6, the smallest: what libvips calls effort.
    public var method: Int
    /// Whether every pixel that can be seen comes back as it was.
    public var isLossless: Bool
    /// Of a lossless image: how little pixels may be changed before, 0 to 100; 100 changes none.
    public var nearLossless: Int
    /// Of a lossy one: the quality of alpha, 0 to 100; 100 loses nothing.
    public var alphaQuality: Int
    /// Of lossy pixels: whether chroma is made with an eye on sharp edges, which takes longer.
    public var sharpensChroma: Bool

    /// Lossy at libvips' effort, unless told otherwise.
    public init(
        width: Int, height: Int, quality: Int, method: Int = 4, isLossless: Bool = false,
        nearLossless: Int = 100, alphaQuality: Int = 100, sharpensChroma: Bool = false
    ) {
        self.width = width
        self.height = height
        self.quality = quality
        self.method = method
        self.isLossless = isLossless
        self.nearLossless = nearLossless
        self.alphaQuality = alphaQuality
        self.sharpensChroma = sharpensChroma
    }

    /// Columns and rows of Y, of U or of V: of half of an odd number, the larger half.
    public func size(ofPlane index: Int) -> (width: Int, height: Int) {
        index == 0 ? (width, height) : ((width + 1) / 2, (height + 1) / 2)
    }

    var isPossible: Bool {
        width > 0 && height > 0 && (0...100).contains(quality) && (0...6).contains(method)
            && (0...100).contains(nearLossless) && (0...100).contains(alphaQuality)
    }

    var shim: cwebp_encoding {
        cwebp_encoding(
            width: CInt(clamping: width), height: CInt(clamping: height),
            quality: CInt(quality), method: CInt(method), is_lossless: isLossless ? 1 : 0,
            near_lossless: CInt(nearLossless), alpha_quality: CInt(alphaQuality),
            sharp_yuv: sharpensChroma ? 1 : 0)
    }
}
