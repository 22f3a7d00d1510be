import Model

/// Pixels as a decoder would pass them on.
struct Source {
    var samples: [UInt8]
    var layout: PixelLayout
    var info: ImageInfo

    /// An unreduced source, each sample computed by the closure.
    init(
        _ width: Int, _ height: Int, _ bands: PixelPlane.Bands = .rgb,
        format: ImageFormat = .png, _ sample: (_ x: Int, _ y: Int, _ band: Int) -> Int
    ) {
        let size = PixelSize(width: width, height: height)
        let count = Int(bands.rawValue)
        layout = PixelLayout(bands: bands, size: size, stride: width * count)
        info = ImageInfo(format: format, size: size, hasAlpha: count % 2 == 0)
        samples = []
        samples.reserveCapacity(width * height * count)
        for y in 0..<height {
            for x in 0..<width {
                for band in 0..<count { samples.append(UInt8(clamping: sample(x, y, band))) }
            }
        }
    }

    /// Each quarter has a gray value of its own: 40, 100, 160, 220 by rows.
    static func quarters(_ width: Int, _ height: Int, _ bands: PixelPlane.Bands = .rgb) -> Source {
        Source(width, height, bands) { x, y, band in
            let quarter = (y < height / 2 ? 0 : 2) + (x < width / 2 ? 0 : 1)
            let isAlpha = Int(bands.rawValue) % 2 == 0 && band == Int(bands.rawValue) - 1
            return isAlpha ? 255 : 40 + 60 * quarter
        }
    }
}
