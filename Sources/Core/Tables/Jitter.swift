/// Spreads what came together, so that it does not come back together.
public enum Jitter {
    /// `milliseconds`, give or take one `part`-th of it. The same seed gives the same answer, by
    /// Fibonacci hashing: no clock, no dice.
    public static func spread(_ milliseconds: Int, part: Int, seed: UInt64) -> Int {
        let dice = Int((seed &* 0x9E37_79B9_7F4A_7C15) >> 48)
        let most = milliseconds / part
        return milliseconds - most + 2 * most * dice / 65_535
    }
}
