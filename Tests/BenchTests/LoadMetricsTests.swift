import Testing

@testable import imagebus_bench

@Suite struct LoadMetricsTests {
    @Test(arguments: [0, 1, 127, 128, 129, 255, 256, 1_000, 72_345, 5_000_000, 3_600_000_000_000])
    func aLatencyIsToldWithinOnePercent(nanoseconds: UInt64) {
        var counts = LatencyCounts()
        counts.record(nanoseconds: nanoseconds)
        let reported = counts.milliseconds(at: 0.5) * 1e6
        #expect(reported >= Double(nanoseconds))
        #expect(reported <= Double(nanoseconds) * 129 / 128 + 1)
    }

    @Test func theLongestDurationHasAPlace() {
        var counts = LatencyCounts()
        counts.record(nanoseconds: .max)
        #expect(counts.milliseconds(at: 1) > 1e12)
    }

    @Test func theShareOfTheSlowestIsThatOfAll() {
        var (counts, others) = (LatencyCounts(), LatencyCounts())
        for _ in 0..<97 { counts.record(nanoseconds: 1_000) }
        for _ in 0..<3 { others.record(nanoseconds: 1_000_000) }
        counts.add(others)
        #expect(counts.count == 100)
        #expect(counts.milliseconds(at: 0.5) < 0.002)
        #expect(counts.milliseconds(at: 0.97) < 0.002)
        #expect(counts.milliseconds(at: 0.99) >= 1)
        #expect(LatencyCounts().milliseconds(at: 0.5) == 0)
    }

    @Test func whatWentWrongCountsForNoRate() {
        var metrics = LoadMetrics()
        for slice in 0..<10 {
            metrics.count(nanoseconds: 1_000, bytes: 7, slice: slice)
            if slice < 5 { metrics.count(nanoseconds: 1_000, bytes: 7, slice: slice) }
            metrics.count(nanoseconds: 1_000, bytes: nil, slice: slice)
        }
        metrics.seconds = 2
        #expect(metrics.requests == 25 && metrics.errors == 10 && metrics.bytes == 105)
        #expect(metrics.rate == 7.5)
        #expect(metrics.rates == (5, 10, 10))
    }

    @Test func figuresOfTheSameTimeAndOfTimesAfterEachOther() {
        var one = LoadMetrics()
        one.count(nanoseconds: 1_000, bytes: 1, slice: 0)
        one.seconds = 1
        var (beside, after) = (one, one)
        beside.add(one)
        after.append(one)
        #expect(beside.seconds == 1 && beside.rate == 2)
        #expect(after.seconds == 2 && after.rate == 1)
    }
}
