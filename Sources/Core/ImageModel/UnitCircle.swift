/// Sine and cosine, for rooms without C: Taylor's series within an eighth of a turn, where sixteen
/// terms are exact to the last bits.
enum UnitCircle {
    /// Of any angle in radians of moderate size.
    static func sineAndCosine(_ radians: Double) -> (sine: Double, cosine: Double) {
        let quarters = (radians * 2 / .pi).rounded()
        let rest = radians - quarters * .pi / 2
        let sine = series(rest, from: rest, 1)
        let cosine = series(rest, from: 1, 0)
        switch Int(quarters) & 3 {
        case 0: return (sine, cosine)
        case 1: return (cosine, -sine)
        case 2: return (-sine, -cosine)
        default: return (-cosine, sine)
        }
    }

    /// The sum of every second power over its factorial, signs in turn, from `first` of that
    /// exponent on.
    private static func series(_ x: Double, from first: Double, _ exponent: Int) -> Double {
        var (term, sum) = (first, first)
        for step in stride(from: exponent + 1, to: exponent + 31, by: 2) {
            term *= -x * x / Double(step * (step + 1))
            sum += term
        }
        return sum
    }
}
