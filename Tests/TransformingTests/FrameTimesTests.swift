import Model
import Testing

@testable import Transforming

/// Durations in the units of each format.
struct FrameTimesTests {
    private func times(_ durations: [UInt32], loops: Int = 0) -> FrameTimes {
        FrameTimes(AnimationProperties(durations: durations, loops: loops))
    }

    @Test func whatOneFrameLosesTheNextOneGets() {
        let thirds = times([UInt32](repeating: 33_333, count: 30))
        let hundredths = thirds.durations(in: 10_000, within: 2...65_535)
        #expect(hundredths.prefix(3) == [3, 4, 3])
        #expect(hundredths.reduce(0, +) == 100)
        #expect(thirds.durations(in: 1_000, within: 1...9_999).reduce(0, +) == 1_000)
        #expect(times([11_000, 11_000, 80_000]).durations(in: 10_000, within: 2...9) == [2, 2, 6])
        #expect(times([5_000_000]).durations(in: 10_000, within: 2...100) == [100])
    }

    @Test(arguments: [
        (100_000, 100, 1_000), (33_333, 1, 30), (16_667, 1, 60), (70_000_000, 7_000, 100),
        (1_234_567, 1_235, 1_000), (4_000_000_000, 4_000, 1),
    ])
    func aFractionSaysTheDuration(duration: Int, numerator: Int, denominator: Int) {
        let found = times([UInt32(duration)]).fraction(0)
        #expect(found.numerator == numerator && found.denominator == denominator, "\(found)")
    }

    @Test func loopsAreAsManyAsAFormatCanSay() {
        #expect(times([1], loops: 70_000).plays(atMost: 65_535) == 65_535)
        #expect(times([1]).plays(atMost: 65_535) == 0)
    }
}
