import Vips

/// Images that the tests create.
public enum Images {
    /// Near pure red.
    public static let red: [UInt8] = [254, 0, 0]
    /// A green.
    public static let green: [UInt8] = [0, 200, 0]
    /// Near pure blue.
    public static let blue: [UInt8] = [0, 0, 254]
    /// A yellow.
    public static let yellow: [UInt8] = [250, 240, 0]

    /// Red top left, green top right, blue bottom left, yellow bottom right.
    public static func quadrants(width: Int = 400, height: Int = 300) -> Pixels {
        let left = width / 2
        let top = row(width, left, red, green)
        let bottom = row(width, left, blue, yellow)
        let samples = (0..<height).flatMap { $0 < height / 2 ? top : bottom }
        return Pixels(width: width, height: height, bands: 3, samples: samples)
    }

    /// The same four colors as a lossless WebP, written without ever having all of its pixels in
    /// memory.
    public static func largeWebP(side: Int) throws -> [UInt8] {
        let colors = red + green + blue + yellow
        return try VipsLibrary().exclusively { () throws(VipsError) -> [UInt8] in
            try withStableBytes(of: colors) { (pixels) throws(VipsError) in
                var bytes: [UInt8] = []
                try VipsImage.pixels(pixels, width: 2, height: 2, bands: 3)
                    .extended(left: side / 2 - 1, top: side / 2 - 1, width: side, height: side)
                    .save(.webp(quality: 0, lossless: true, effort: 0)) {
                        bytes.append(contentsOf: $0)
                        return true
                    }
                return bytes
            }
        }
    }

    private static func row(
        _ width: Int, _ left: Int, _ first: [UInt8], _ second: [UInt8]
    ) -> [UInt8] {
        (0..<width).flatMap { $0 < left ? first : second }
    }

    /// Seeded noise, which encoders can't compress well.
    public static func noise(width: Int, height: Int, seed: UInt64 = 1) -> Pixels {
        var state = seed &* 0x9E37_79B9_7F4A_7C15 | 1
        let samples = (0..<(width * height * 3)).map { _ in
            state ^= state << 13
            state ^= state >> 7
            state ^= state << 17
            return UInt8(truncatingIfNeeded: state >> 32)
        }
        return Pixels(width: width, height: height, bands: 3, samples: samples)
    }

    /// Smooth waves: as in a photograph, each pixel differs a little from its neighbors.
    public static func waves(width: Int, height: Int) -> Pixels {
        let samples = [UInt8](unsafeUninitializedCapacity: width * height * 3) { buffer, count in
            for y in 0..<height {
                for x in 0..<width {
                    let index = (y * width + x) * 3
                    buffer[index] = wave(x, 90) &+ wave(y, 150)
                    buffer[index + 1] = wave(x + y, 210) &+ UInt8(truncatingIfNeeded: x * y % 7)
                    buffer[index + 2] = wave(y, 70) &+ wave(x, 260)
                }
            }
            count = width * height * 3
        }
        return Pixels(width: width, height: height, bands: 3, samples: samples)
    }

    /// Waves of 400 × 300 pixels as a JPEG.
    public static func photo() throws -> [UInt8] {
        try waves(width: 400, height: 300).jpeg(quality: 85)
    }

    /// Waves of 80 × 80 pixels as a JPEG.
    public static func smallPhoto() throws -> [UInt8] {
        try waves(width: 80, height: 80).jpeg(quality: 90)
    }

    /// A triangle wave between 0 and 120.
    private static func wave(_ position: Int, _ period: Int) -> UInt8 {
        let phase = position % period
        let half = period / 2
        return UInt8(truncatingIfNeeded: (phase < half ? phase : period - phase) * 120 / half)
    }

    /// A GIF of 2 × 2 pixels: red, green, blue, yellow. Codes of 3 bits, the initial LZW code size
    /// (GIF89a, appendix F).
    public static let tinyGIF: [UInt8] = gif(frames: [[0, 1, 2, 3]])

    /// The same with a second frame: yellow, blue, green, red.
    public static let animatedGIF: [UInt8] = gif(frames: [[0, 1, 2, 3], [3, 2, 1, 0]])

    /// A GIF; each frame is four indexes into the palette.
    private static func gif(frames: [[Int]]) -> [UInt8] {
        let head: [UInt8] = Array("GIF89a".utf8) + [2, 0, 2, 0, 0x91, 0, 0]
        let images = frames.flatMap { frame -> [UInt8] in
            [0x2C, 0, 0, 0, 0, 2, 0, 2, 0, 0, 2, 3] + codes([4] + frame + [5]) + [0]
        }
        return head + red + green + blue + yellow + images + [0x3B]
    }

    /// Codes packed from the low bits: 3 bits each, 4 once the decoder's table has 8 entries.
    private static func codes(_ values: [Int]) -> [UInt8] {
        var bits = 0
        var filled = 0
        for (index, value) in values.enumerated() {
            bits |= value << filled
            filled += index < 4 ? 3 : 4
        }
        return [UInt8(bits & 255), UInt8(bits >> 8 & 255), UInt8(bits >> 16 & 255)]
    }
}

extension [UInt8] {
    /// This JPEG with an EXIF block that contains only the orientation (EXIF 2.3 §4.6.4).
    public func withEXIF(orientation: Int) -> [UInt8] {
        let directory: [UInt8] =
            [0x49, 0x49, 0x2A, 0, 8, 0, 0, 0, 1, 0]
            + [0x12, 0x01, 3, 0, 1, 0, 0, 0, UInt8(orientation), 0, 0, 0] + [0, 0, 0, 0]
        let payload = Array("Exif".utf8) + [0, 0] + directory
        let length = payload.count + 2
        return Array(prefix(2)) + [0xFF, 0xE1, UInt8(length >> 8), UInt8(length & 255)] + payload
            + dropFirst(2)
    }
}

/// Whether two colors differ by no more than lossy coding explains.
public func isClose(_ color: [UInt8], _ expected: [UInt8], by tolerance: Int = 16) -> Bool {
    color.count >= 3
        && zip(color.prefix(3), expected).allSatisfy { abs(Int($0) - Int($1)) <= tolerance }
}
