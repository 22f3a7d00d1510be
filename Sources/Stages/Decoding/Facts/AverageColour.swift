import ImageModel

/// The mean of all pixels.
enum AverageColour {
    /// Of the samples in sRGB, each weighed by its alpha; alpha is the mean of all.
    static func of(_ pixels: MiniaturePixels) -> Colour {
        var sums = SIMD4<Int>.zero
        pixels.forEach { red, green, blue, alpha in
            let weight = Int(alpha)
            sums &+= SIMD4(Int(red) * weight, Int(green) * weight, Int(blue) * weight, weight)
        }
        return Colour(
            mean: sums, over: sums.w, alpha: sums.w, over: pixels.size.width * pixels.size.height)
    }
}

extension Colour {
    /// Sums over numbers, rounded; no colour where there is nothing to divide by.
    init(mean sums: SIMD4<Int>, over weight: Int, alpha: Int, over count: Int) {
        func mean(_ sum: Int, _ count: Int) -> UInt32 {
            count > 0 ? UInt32(clamping: (2 * sum + count) / (2 * count)) : 0
        }
        self.init(
            argb: mean(alpha, count) << 24 | mean(sums.x, weight) << 16 | mean(sums.y, weight) << 8
                | mean(sums.z, weight))
    }
}
