/// How long a frame is shown, and how often an animation (SEMANTICS §11.30).
package enum FrameTiming {
    /// Microseconds of a frame whose file says nothing, or too little to be seen.
    package static let usual = 100_000

    /// The fewest microseconds that a file may ask for: less than 11 ms was never meant, browsers
    /// have always shown it for 100 ms.
    private static let least = 11_000

    /// Of microseconds as the file says.
    package static func duration(stated: Int) -> Int { stated < least ? usual : stated }

    /// Of a fraction of a second; a denominator of 0 means 100 (PNG specification, third edition,
    /// 11.3.4.2).
    static func duration(numerator: Int, denominator: Int) -> Int {
        let denominator = denominator == 0 ? 100 : denominator
        return duration(stated: (numerator * 1_000_000 + denominator / 2) / denominator)
    }
}
