import Glibc
import Model
import Vips

/// All pixels of a miniature, from which properties are computed: 8-bit sRGB with straight alpha.
struct MiniaturePixels {
    /// The maximum number of columns and rows: a ThumbHash allows no more, and more would add no
    /// information.
    static let sideMax = 100

    let size: PixelSize
    /// Red, green, blue and alpha of each pixel, row by row.
    let pixels: [SIMD4<UInt8>]

    /// Reduces a source as far as possible in its decoder, and then here.
    init(_ source: SourceImage, at scale: DecodeScale, cancellation: CancellationFlag) throws {
        size = ResizeGeometry(source: source.info.size, box: Self.box, mode: .fit).scaled
        pixels = try source.pixels(at: scale, cancellation: cancellation).image
            .miniature(width: size.width, height: size.height)
            .withPixels { samples in
                stride(from: 0, to: samples.count, by: 4).map { start in
                    SIMD4(
                        samples[start], samples[start + 1], samples[start + 2],
                        samples[start + 3])
                }
            }
    }

    private static let box = PixelSize(width: sideMax, height: sideMax)

    /// What the decoder of the source must provide.
    static let need = DecodeNeed.cover(box, .fit)
}

extension SIMD4<UInt8> {
    /// The colors weighted by alpha, and alpha.
    fileprivate var weighted: SIMD4<Int> {
        var weighted = SIMD4<Int>(truncatingIfNeeded: self)
        weighted &*= SIMD4<Int>(weighted.w, weighted.w, weighted.w, 1)
        return weighted
    }
}

/// The mean of all pixels.
enum AverageColor {
    /// Returns the mean of the sRGB samples, weighted by alpha; alpha is the mean of all pixels.
    static func of(_ miniature: MiniaturePixels) -> Color {
        let sums = miniature.pixels.reduce(SIMD4<Int>.zero) { $0 &+ $1.weighted }
        return Color(mean: sums, over: sums.w, alpha: sums.w, over: miniature.pixels.count)
    }
}

extension Color {
    /// Creates a color from rounded quotients of sums; no color if a divisor is zero.
    init(mean sums: SIMD4<Int>, over weight: Int, alpha: Int, over count: Int) {
        func mean(_ sum: Int, _ count: Int) -> UInt32 {
            count > 0 ? UInt32(clamping: (2 * sum + count) / (2 * count)) : 0
        }
        self.init(
            argb: mean(alpha, count) << 24 | mean(sums.x, weight) << 16 | mean(sums.y, weight) << 8
                | mean(sums.z, weight))
    }
}

/// The most frequent color of an image.
enum DominantColor {
    /// The number of bins per channel.
    private static let grades = 16

    /// Returns the mean of the pixels in the fullest bin of the color histogram, weighted by alpha.
    /// `nil` if everything is transparent.
    static func of(_ miniature: MiniaturePixels) -> Color? {
        var sums = [SIMD4<Int>](repeating: .zero, count: grades * grades * grades)
        for pixel in miniature.pixels {
            let bin = SIMD4<Int>(truncatingIfNeeded: pixel / 16)
            sums[(bin.x * grades + bin.y) * grades + bin.z] &+= pixel.weighted
        }
        guard let most = sums.max(by: { $0.w < $1.w }), most.w > 0 else { return nil }
        return Color(mean: most, over: most.w, alpha: 255, over: 1)
    }
}

/// A BlurHash (github.com/woltapp/blurhash): a few components of a cosine transform of the colors
/// in linear light, as text. Transparent pixels are composited over white.
struct BlurHash {
    /// The number of components in each direction, from 1 to 9.
    let components: PixelSize
    private let size: PixelSize
    private let light: [SIMD4<Double>]

    init(_ miniature: MiniaturePixels, components: PixelSize) {
        (self.components, size) = (components, miniature.size)
        light = miniature.pixels.map(Self.light)
    }

    var text: String {
        var factors: [SIMD4<Double>] = []
        for row in 0..<components.height {
            for column in 0..<components.width { factors.append(factor(column, row)) }
        }
        let others = factors.dropFirst()
        let largest = others.map { max(abs($0.x), abs($0.y), abs($0.z)) }.max() ?? 0
        let grade = others.isEmpty ? 0 : max(0, min(82, Int((largest * 166 - 0.5).rounded(.down))))
        let most = Double(grade + 1) / 166
        return Self.digits(components.width - 1 + (components.height - 1) * 9, 1)
            + Self.digits(grade, 1) + Self.digits(Self.mean(factors[0]), 4)
            + others.map { Self.digits(Self.difference($0 / most), 2) }.joined()
    }

    private func factor(_ column: Int, _ row: Int) -> SIMD4<Double> {
        let across = Self.cosines(column, size.width)
        let down = Self.cosines(row, size.height)
        var sum = SIMD4<Double>.zero
        for y in 0..<size.height {
            for x in 0..<size.width { sum += light[y * size.width + x] * (across[x] * down[y]) }
        }
        return sum * ((column == 0 && row == 0 ? 1 : 2) / Double(size.width * size.height))
    }

    private static func cosines(_ component: Int, _ count: Int) -> [Double] {
        (0..<count).map { cos(.pi * Double(component) * Double($0) / Double(count)) }
    }

    // MARK: - Quantization

    /// Encodes the first factor: a 24-bit sRGB color.
    private static func mean(_ factor: SIMD4<Double>) -> Int {
        sample(factor.x) << 16 | sample(factor.y) << 8 | sample(factor.z)
    }

    /// Encodes another factor relative to the largest: nineteen steps per channel.
    private static func difference(_ factor: SIMD4<Double>) -> Int {
        func grade(_ value: Double) -> Int {
            let root = value < 0 ? -(-value).squareRoot() : value.squareRoot()
            return max(0, min(18, Int((root * 9 + 9.5).rounded(.down))))
        }
        return (grade(factor.x) * 19 + grade(factor.y)) * 19 + grade(factor.z)
    }

    private static let letters = Array(
        "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz#$%*+,-.:;=?@[]^_{|}~".utf8)

    /// Formats a number with this many base-83 digits.
    private static func digits(_ value: Int, _ count: Int) -> String {
        var (rest, digits) = (value, [UInt8]())
        for _ in 0..<count {
            digits.append(letters[rest % letters.count])
            rest /= letters.count
        }
        return String(decoding: digits.reversed(), as: UTF8.self)
    }

    // MARK: - Linear light

    private static func light(_ pixel: SIMD4<UInt8>) -> SIMD4<Double> {
        let seen = (pixel.weighted &+ (255 * (255 - Int(pixel.w)) + 127)) / 255
        return SIMD4(lights[seen.x], lights[seen.y], lights[seen.z], 0)
    }

    /// The linear light of sRGB samples.
    private static let lights = (0...255).map { sample in
        let value = Double(sample) / 255
        return value <= 0.04045 ? value / 12.92 : pow((value + 0.055) / 1.055, 2.4)
    }

    private static func sample(_ light: Double) -> Int {
        let value = max(0, min(1, light))
        let part = value <= 0.003_130_8 ? value * 12.92 : 1.055 * pow(value, 1 / 2.4) - 0.055
        return Int(part * 255 + 0.5)
    }
}

/// A ThumbHash (github.com/evanw/thumbhash): some components of a cosine transform of luminance,
/// two color differences and alpha, in 5 to 25 bytes.
struct ThumbHash {
    private let size: PixelSize
    /// Luminance, yellow-blue, red-green and alpha of each pixel; transparent pixels have the mean
    /// color.
    private let pixels: [SIMD4<Double>]
    private let hasAlpha: Bool

    init(_ miniature: MiniaturePixels) {
        size = miniature.size
        var sums = SIMD4<Double>.zero
        for pixel in miniature.pixels {
            let part = Double(pixel.w) / 255
            sums += Self.colors(pixel) * (part / 255)
            sums.w += part
        }
        let mean = sums.w > 0 ? sums / sums.w : .zero
        hasAlpha = sums.w < Double(miniature.pixels.count)
        pixels = miniature.pixels.map { pixel in
            let part = Double(pixel.w) / 255
            let seen = mean * (1 - part) + Self.colors(pixel) * (part / 255)
            return SIMD4(
                (seen.x + seen.y + seen.z) / 3, (seen.x + seen.y) / 2 - seen.z, seen.x - seen.y,
                part)
        }
    }

    private static func colors(_ pixel: SIMD4<UInt8>) -> SIMD4<Double> {
        SIMD4(Double(pixel.x), Double(pixel.y), Double(pixel.z), 0)
    }

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

    /// In the aspect ratio of the image; fewer with alpha.
    private var lightComponents: (columns: Int, rows: Int) {
        let most = hasAlpha ? 5.0 : 7.0
        let longest = Double(max(size.width, size.height))
        func count(_ side: Int) -> Int { max(1, Int((most * Double(side) / longest).rounded())) }
        return (count(size.width), count(size.height))
    }

    private func grade(_ value: Double, _ most: Double) -> Int {
        Int((min(max(0, value), 1) * most).rounded())
    }

    /// The transform of one of the four channels.
    private struct Channel {
        private(set) var mean = 0.0
        /// The other components relative to the largest, mapped to 0 to 1.
        private(set) var others: [Double] = []
        /// The largest component.
        private(set) var scale = 0.0

        init(_ hash: ThumbHash, _ part: KeyPath<SIMD4<Double>, Double>, columns: Int, rows: Int) {
            let values = hash.pixels.map { $0[keyPath: part] }
            for row in 0..<rows {
                // A triangle of components, without the highest frequencies in both directions.
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

/// Packs numbers of a few bits each, least significant first.
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
