import Glibc
import ImageModel

/// A BlurHash (github.com/woltapp/blurhash): a few components of a cosine transform
/// of the colours in linear light, as text. Transparent pixels are laid over white.
struct BlurHash {
    /// Components in each direction, from 1 to 9.
    let components: PixelSize
    private let size: PixelSize
    private let light: [SIMD4<Double>]

    init(_ pixels: MiniaturePixels, components: PixelSize) {
        (self.components, size) = (components, pixels.size)
        var light: [SIMD4<Double>] = []
        light.reserveCapacity(size.width * size.height)
        pixels.forEach { red, green, blue, alpha in
            light.append(Self.light(red, green, blue, alpha))
        }
        self.light = light
    }

    /// The hash.
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

    // MARK: - Numbers

    /// The first factor: a colour of 24 bits in sRGB.
    private static func mean(_ factor: SIMD4<Double>) -> Int {
        sample(factor.x) << 16 | sample(factor.y) << 8 | sample(factor.z)
    }

    /// Another one, in parts of the largest: nineteen grades of each colour.
    private static func difference(_ factor: SIMD4<Double>) -> Int {
        func grade(_ value: Double) -> Int {
            let root = value < 0 ? -(-value).squareRoot() : value.squareRoot()
            return max(0, min(18, Int((root * 9 + 9.5).rounded(.down))))
        }
        return (grade(factor.x) * 19 + grade(factor.y)) * 19 + grade(factor.z)
    }

    private static let letters = Array(
        "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz#$%*+,-.:;=?@[]^_{|}~".utf8)

    /// So many digits of base 83.
    private static func digits(_ value: Int, _ count: Int) -> String {
        var (rest, digits) = (value, [UInt8]())
        for _ in 0..<count {
            digits.append(letters[rest % letters.count])
            rest /= letters.count
        }
        return String(decoding: digits.reversed(), as: UTF8.self)
    }

    // MARK: - Light

    private static func light(
        _ red: UInt8, _ green: UInt8, _ blue: UInt8, _ alpha: UInt8
    ) -> SIMD4<Double> {
        func seen(_ sample: UInt8) -> Int {
            (Int(sample) * Int(alpha) + 255 * (255 - Int(alpha)) + 127) / 255
        }
        return SIMD4(lights[seen(red)], lights[seen(green)], lights[seen(blue)], 0)
    }

    /// Of the samples of sRGB.
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
