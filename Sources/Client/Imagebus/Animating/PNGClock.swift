/// Durations as an animated PNG has them: seconds as a fraction of two numbers of 16 bits.
struct PNGClock {
    /// What the frames so far should have taken, and what was written of it; microseconds.
    private var (meant, written) = (0, 0)

    /// In milliseconds up to 65 seconds, in hundredths of a second up to ten minutes, else in
    /// tenths, which reach an hour. What one frame loses by that the next one gets.
    mutating func fraction(of duration: Duration) -> (numerator: Int, denominator: Int) {
        meant += Int(duration / .microseconds(1))
        let left = meant - written
        for denominator in [1_000, 100] {
            let numerator = max(1, (left * denominator + 500_000) / 1_000_000)
            guard numerator <= UInt16.max else { continue }
            written += numerator * 1_000_000 / denominator
            return (numerator, denominator)
        }
        let tenths = min(Int(UInt16.max), (left + 50_000) / 100_000)
        written += tenths * 100_000
        return (tenths, 10)
    }
}
