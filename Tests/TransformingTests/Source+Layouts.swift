import Model

/// The same pixels in the other layouts that decoders produce.
extension Source {
    /// Planes as in a JPEG: chroma with half the columns and rows, constant, so that no filter
    /// changes it. Every plane has row padding.
    static func planar(
        _ width: Int, _ height: Int, blue: Int = 128, red: Int = 128,
        _ luma: (_ x: Int, _ y: Int) -> Int
    ) -> Source {
        var source = Source(width, height, .gray) { x, y, _ in luma(x, y) }
        let half = PixelSize(width: (width + 1) / 2, height: (height + 1) / 2)
        source.samples = []
        source.layout.planes = []
        source.append(PixelSize(width: width, height: height), luma)
        source.append(half) { _, _ in blue }
        source.append(half) { _, _ in red }
        for plane in 1...2 {
            // For an odd side, the last sample covers one pixel.
            source.layout.planes[plane].activeWidth = Double(width) / 2
            source.layout.planes[plane].activeHeight = Double(height) / 2
        }
        return source
    }

    /// Appends a plane after the others.
    private mutating func append(_ size: PixelSize, _ sample: (_ x: Int, _ y: Int) -> Int) {
        let stride = (size.width / 64 + 1) * 64
        layout.planes.append(
            PixelPlane(bands: .gray, offset: samples.count, size: size, stride: stride))
        for y in 0..<size.height {
            for x in 0..<stride {
                samples.append(x < size.width ? UInt8(clamping: sample(x, y)) : Self.padding)
            }
        }
    }

    /// Red, green and blue of Y, Cb and Cr (JFIF 1.02).
    static func color(luma: Int, blue: Int, red: Int) -> [Int] {
        let (light, cb, cr) = (Double(luma), Double(blue - 128), Double(red - 128))
        let colors = [
            light + 1.402 * cr, light - 0.344136 * cb - 0.714136 * cr, light + 1.772 * cb,
        ]
        return colors.map { Int($0.rounded()) }
    }

    /// The same stored pixels, displayed with a clockwise quarter turn.
    var turned: Source {
        var source = self
        source.layout.orientation = Orientation(exif: 6)
        source.info.size = info.size.transposed
        return source
    }

    /// Interleaved pixels with `count` bytes of padding after every row.
    func padded(by count: Int) -> Source {
        var source = self
        let row = layout.planes[0].stride
        source.layout.planes[0].stride = row + count
        source.samples = []
        for line in 0..<info.size.height {
            source.samples.append(contentsOf: samples[(line * row)..<((line + 1) * row)])
            source.samples.append(contentsOf: [UInt8](repeating: Self.padding, count: count))
        }
        return source
    }

    /// The value of padding bytes.
    private static let padding: UInt8 = 238

    /// One pixel of interleaved, unpadded ones: three colors, and alpha if there is any.
    func pixel(_ x: Int, _ y: Int) -> [Int] {
        let count = Int(layout.planes[0].bands.rawValue)
        let start = y * layout.planes[0].stride + x * count
        let pixel = samples[start..<(start + count)].map { Int($0) }
        return count < 3 ? [pixel[0], pixel[0]] + pixel : pixel
    }
}
