import Model
import Testing

@Suite struct HistogramTests {
    private func histogram(_ microseconds: UInt64...) -> LatencyHistogram {
        var histogram = LatencyHistogram()
        for value in microseconds { histogram.record(microseconds: value) }
        return histogram
    }

    @Test func theSumIsExactAndDoesNotOverflow() {
        #expect(histogram(1, 20, 300).sum == 321)
        var full = histogram(.max, 1)
        #expect(full.sum == .max)
        full.add(histogram(5))
        #expect(full.sum == .max)
        #expect(full.count == 3)
    }

    @Test func countsAreCumulativeUpToTheEndOfABucket() {
        let some = histogram(128, 129, 256, 4_000)
        let octave = LatencyHistogram.bucketsPerOctave
        #expect(LatencyHistogram.upperEnd(of: 7 * octave) == 128)
        #expect(some.count(upTo: 7 * octave) == 1)
        #expect(some.count(upTo: 8 * octave) == 3)
        #expect(some.count(upTo: 12 * octave) == 4)
        #expect(some.count(upTo: 0) == 0)
    }

    @Test func whatHappenedBetweenTwoLooksIsTheirDifference() {
        let before = histogram(10, 20)
        var after = before
        after.record(microseconds: 500)
        #expect(after.since(before) == histogram(500))
        var both = before
        both.add(histogram(500))
        #expect(both == after)
    }

    @Test func momentsThatRunBackwardsAreNoTime() {
        var histogram = LatencyHistogram()
        histogram.record(from: Instant(nanoseconds: 9_000), to: Instant(nanoseconds: 4_000))
        histogram.record(from: Instant(nanoseconds: 4_000), to: Instant(nanoseconds: 9_000))
        #expect(histogram.count == 2 && histogram.sum == 5)
    }
}
