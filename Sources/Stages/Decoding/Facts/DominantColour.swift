import ImageModel

/// The colour of which an image has most.
enum DominantColour {
    /// Grades of each colour.
    private static let grades = 16

    /// The mean of those pixels whose three colours are in the same grades, of which there are
    /// most; each counts as much as it is seen. `nil` where nothing is seen.
    static func of(_ pixels: MiniaturePixels) -> Colour? {
        var sums = [SIMD4<Int>](repeating: .zero, count: grades * grades * grades)
        pixels.forEach { red, green, blue, alpha in
            let weight = Int(alpha)
            let place = (Int(red / 16) * grades + Int(green / 16)) * grades + Int(blue / 16)
            sums[place] &+= SIMD4(
                Int(red) * weight, Int(green) * weight, Int(blue) * weight, weight)
        }
        guard let most = sums.max(by: { $0.w < $1.w }), most.w > 0 else { return nil }
        return Colour(mean: most, over: most.w, alpha: 255, over: 1)
    }
}
