import ImageModel

/// How long frames are shown, in the units of formats.
struct FrameTimes {
    private let animation: AnimationFacts

    /// Of one frame at least.
    init(_ animation: AnimationFacts) { self.animation = animation }

    var count: Int { animation.durations.count }

    /// How often all are played, as far as a format can say it; 0: without end.
    func plays(atMost most: Int) -> Int { min(max(0, animation.plays), most) }

    /// The microseconds of a frame.
    func microseconds(_ index: Int) -> Int { Int(animation.durations[index]) }

    /// The frames' durations in units of so many microseconds. What is lost by one frame the next
    /// one gets, so that all together take as long as before.
    func durations(in unit: Int, within range: ClosedRange<Int>) -> [Int] {
        var (end, written) = (0, 0)
        return animation.durations.map { duration in
            end += Int(duration)
            let left = (end + unit / 2) / unit - written
            let units = min(max(left, range.lowerBound), range.upperBound)
            written += units
            return units
        }
    }

    /// The duration of a frame as an animated PNG has it: seconds as a fraction of two numbers of
    /// 16 bits.
    func fraction(_ index: Int) -> (numerator: Int, denominator: Int) {
        let duration = microseconds(index)
        let rate = max(1, (1_000_000 + duration / 2) / max(1, duration))
        for denominator in [1_000, 100, rate, 10_000, 10] where denominator <= 65_535 {
            let numerator = (duration * denominator + 500_000) / 1_000_000
            let stated = (numerator * 1_000_000 + denominator / 2) / denominator
            if numerator <= 65_535, stated == duration { return (numerator, denominator) }
        }
        let milliseconds = (duration + 500) / 1_000
        return milliseconds <= 65_535
            ? (milliseconds, 1_000) : (min(65_535, (duration + 500_000) / 1_000_000), 1)
    }
}
