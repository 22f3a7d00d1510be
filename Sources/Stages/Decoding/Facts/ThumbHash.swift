import Glibc
import ImageModel

/// A ThumbHash (github.com/evanw/thumbhash): some components of a cosine transform of light, two
/// differences of colours and alpha, in 5 to 25 bytes.
struct ThumbHash {
    private let size: PixelSize
    /// Light, yellow less blue, red less green, and alpha of each pixel; what is transparent shows
    /// the mean colour.
    private let pixels: [SIMD4<Double>]
    private let hasAlpha: Bool

    init(_ miniature: MiniaturePixels) {
        size = miniature.size
        var sums = SIMD4<Double>.zero
        miniature.forEach { red, green, blue, alpha in
            let part = Double(alpha) / 255
            sums += SIMD4(Double(red), Double(green), Double(blue), 0) * (part / 255)
            sums.w += part
        }
        let mean = sums.w > 0 ? sums / sums.w : .zero
        hasAlpha = sums.w < Double(size.width * size.height)
        var pixels: [SIMD4<Double>] = []
        pixels.reserveCapacity(size.width * size.height)
        miniature.forEach { red, green, blue, alpha in
            let part = Double(alpha) / 255
            let seen =
                mean * (1 - part) + SIMD4(Double(red), Double(green), Double(blue), 0)
                * (part / 255)
            pixels.append(
                SIMD4(
                    (seen.x + seen.y + seen.z) / 3, (seen.x + seen.y) / 2 - seen.z, seen.x - seen.y,
                    part))
        }
        self.pixels = pixels
    }

    /// The hash.
    var bytes: [UInt8] {
        let (columns, rows) = lightComponents
        let light = Channel(self, \.x, columns: max(3, columns), rows: max(3, rows))
        let yellow = Channel(self, \.y, columns: 3, rows: 3)
        let red = Channel(self, \.z, columns: 3, rows: 3)
        let alpha = hasAlpha ? Channel(self, \.w, columns: 5, rows: 5) : nil
        let isWide = size.width > size.height

        var bits = HashBits()
        bits.append(grade(light.mean, 63), 6)
        bits.append(grade(0.5 + yellow.mean / 2, 63), 6)
        bits.append(grade(0.5 + red.mean / 2, 63), 6)
        bits.append(grade(light.scale, 31), 5)
        bits.append(hasAlpha ? 1 : 0, 1)
        bits.append(isWide ? rows : columns, 3)
        bits.append(grade(yellow.scale, 63), 6)
        bits.append(grade(red.scale, 63), 6)
        bits.append(isWide ? 1 : 0, 1)
        if let alpha {
            bits.append(grade(alpha.mean, 15), 4)
            bits.append(grade(alpha.scale, 15), 4)
        }
        for channel in [light, yellow, red, alpha].compactMap({ $0 }) {
            for factor in channel.others { bits.append(grade(factor, 15), 4) }
        }
        return bits.bytes
    }

    /// In the ratio of the image, fewer where there is alpha.
    private var lightComponents: (columns: Int, rows: Int) {
        let most = hasAlpha ? 5.0 : 7.0
        let longest = Double(max(size.width, size.height))
        func count(_ side: Int) -> Int { max(1, Int((most * Double(side) / longest).rounded())) }
        return (count(size.width), count(size.height))
    }

    private func grade(_ value: Double, _ most: Double) -> Int {
        Int((min(max(0, value), 1) * most).rounded())
    }

    /// The transform of one of the four.
    private struct Channel {
        private(set) var mean = 0.0
        /// In halves of the largest, from 0 to 1.
        private(set) var others: [Double] = []
        /// The largest.
        private(set) var scale = 0.0

        init(
            _ hash: ThumbHash, _ part: KeyPath<SIMD4<Double>, Double>, columns: Int, rows: Int
        ) {
            let values = hash.pixels.map { $0[keyPath: part] }
            for row in 0..<rows {
                // A triangle of components, without the finest in both directions.
                for column in 0..<columns where column * rows < columns * (rows - row) {
                    let factor = Self.factor(values, hash.size, column, row)
                    if column == 0 && row == 0 {
                        mean = factor
                    } else {
                        others.append(factor)
                        scale = max(scale, abs(factor))
                    }
                }
            }
            if scale > 0 { others = others.map { 0.5 + 0.5 / scale * $0 } }
        }

        private static func factor(
            _ values: [Double], _ size: PixelSize, _ column: Int, _ row: Int
        ) -> Double {
            let (across, down) = (cosines(column, size.width), cosines(row, size.height))
            var sum = 0.0
            for y in 0..<size.height {
                for x in 0..<size.width { sum += values[y * size.width + x] * across[x] * down[y] }
            }
            return sum / Double(size.width * size.height)
        }

        private static func cosines(_ component: Int, _ count: Int) -> [Double] {
            (0..<count).map { cos(.pi / Double(count) * Double(component) * (Double($0) + 0.5)) }
        }
    }
}

/// Numbers of a few bits each, the lowest first.
private struct HashBits {
    private(set) var bytes: [UInt8] = []
    private var count = 0

    mutating func append(_ value: Int, _ width: Int) {
        for bit in 0..<width {
            if count % 8 == 0 { bytes.append(0) }
            bytes[count / 8] |= UInt8(value >> bit & 1) << (count % 8)
            count += 1
        }
    }
}
