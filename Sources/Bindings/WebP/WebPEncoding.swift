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

    /// Lossy at libvips' effort, unless told otherwise.
    public init(
        width: Int, height: Int, quality: Int, method: Int = 4, isLossless: Bool = false
    ) {
        self.width = width
        self.height = height
        self.quality = quality
        self.method = method
        self.isLossless = isLossless
    }

    /// Columns and rows of Y, of U or of V: of half of an odd number, the larger half.
    public func size(ofPlane index: Int) -> (width: Int, height: Int) {
        index == 0 ? (width, height) : ((width + 1) / 2, (height + 1) / 2)
    }

    var isPossible: Bool {
        width > 0 && height > 0 && (0...100).contains(quality) && (0...6).contains(method)
    }

    var shim: cwebp_encoding {
        cwebp_encoding(
            width: CInt(clamping: width), height: CInt(clamping: height),
            quality: CInt(quality), method: CInt(method), is_lossless: isLossless ? 1 : 0)
    }
}
