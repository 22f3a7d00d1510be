import Vips

/// Pixels in memory that a `VipsImage` reads.
final class Pixels {
    let bytes: UnsafeMutableRawBufferPointer
    let width: Int
    let height: Int
    let bands: Int
    private let onEnd: () -> Void

    /// Computes each sample with the closure.
    init(
        _ width: Int, _ height: Int, bands: Int = 3, onEnd: @escaping () -> Void = {},
        _ sample: (_ x: Int, _ y: Int, _ band: Int) -> Int
    ) {
        (self.width, self.height, self.bands, self.onEnd) = (width, height, bands, onEnd)
        bytes = .allocate(byteCount: width * height * bands, alignment: 16)
        for y in 0..<height {
            for x in 0..<width {
                for band in 0..<bands {
                    bytes[(y * width + x) * bands + band] = UInt8(clamping: sample(x, y, band))
                }
            }
        }
    }

    deinit {
        bytes.deallocate()
        onEnd()
    }

    /// A smooth image with a different value almost everywhere.
    static func gradient(_ width: Int, _ height: Int, bands: Int = 3) -> Pixels {
        Pixels(width, height, bands: bands) { x, y, band in
            switch band {
            case 0: x * 255 / max(1, width - 1)
            case 1: y * 255 / max(1, height - 1)
            case 2: (x + y) * 255 / max(1, width + height - 2)
            default: 255 - x * 200 / max(1, width - 1)
            }
        }
    }

    func image() throws(VipsError) -> VipsImage {
        try VipsImage.pixels(
            UnsafeRawBufferPointer(bytes), width: width, height: height, bands: bands, owner: self)
    }
}

/// Runs with libvips initialized and used by no other thread.
func withVips<Result>(_ body: () throws -> Result) throws -> Result {
    try VipsLibrary().exclusively(body)
}
