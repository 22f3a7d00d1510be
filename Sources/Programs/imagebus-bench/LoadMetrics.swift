import Model
import Reporting

/// The results of a series of loads: counts, latencies and the distribution over time.
struct LoadMetrics: Hashable, Sendable {
    /// The number of time slices, used to determine the spread.
    static let slices = 10

    private(set) var requests = 0
    /// The number of loads that failed or did not match the measurement.
    private(set) var errors = 0
    private(set) var bytes = 0
    private(set) var latencies = LatencyCounts()
    private var bySlice = [Int](repeating: 0, count: slices)
    var seconds = 0.0

    /// Counts a load; `bytes` is `nil` on failure.
    mutating func count(nanoseconds: UInt64, bytes: Int?, slice: Int) {
        requests += 1
        guard let bytes else { return errors += 1 }
        self.bytes += bytes
        latencies.record(nanoseconds: nanoseconds)
        bySlice[min(max(slice, 0), Self.slices - 1)] += 1
    }

    /// Adds loads performed concurrently.
    mutating func add(_ other: LoadMetrics) {
        requests += other.requests
        errors += other.errors
        bytes += other.bytes
        latencies.add(other.latencies)
        for slice in bySlice.indices { bySlice[slice] += other.bySlice[slice] }
        seconds = max(seconds, other.seconds)
    }

    /// Appends loads performed afterwards; their slices are added to the corresponding slices.
    mutating func append(_ other: LoadMetrics) {
        let before = seconds
        add(other)
        seconds = before + other.seconds
    }

    /// The median and the 99th percentile of the latencies in milliseconds.
    var p50: Double { latencies.milliseconds(at: 0.5) }
    var p99: Double { latencies.milliseconds(at: 0.99) }

    /// The number of successful loads per second.
    var rate: Double { seconds > 0 ? Double(requests - errors) / seconds : 0 }

    /// The rates of the slowest, the median and the fastest slice.
    var rates: (least: Double, median: Double, most: Double) {
        let sorted = bySlice.sorted()
        func rate(_ number: Int) -> Double {
            seconds > 0 ? Double(number * Self.slices) / seconds : 0
        }
        return (rate(sorted[0]), rate(sorted[Self.slices / 2]), rate(sorted[Self.slices - 1]))
    }
}

/// A histogram of latencies with 128 buckets per octave (0.8 %). Recording takes only a few
/// nanoseconds, so it hardly affects the measurement.
struct LatencyCounts: Hashable, Sendable {
    /// The number of buckets per octave, as a power of two.
    private static let stepBits = 7
    private static let steps = 1 << stepBits

    private var counts = [UInt32](repeating: 0, count: (65 - stepBits) * steps)
    private(set) var count: UInt64 = 0

    mutating func record(nanoseconds: UInt64) {
        counts[Self.place(of: nanoseconds)] &+= 1
        count += 1
    }

    mutating func add(_ other: LatencyCounts) {
        for place in counts.indices { counts[place] &+= other.counts[place] }
        count += other.count
    }

    /// Returns the quantile `share` (0 to 1) in milliseconds; 0 if nothing was recorded.
    func milliseconds(at share: Double) -> Double {
        let wanted = max(1, (Double(count) * share).rounded(.up))
        var sum: UInt64 = 0
        for (place, number) in counts.enumerated() {
            sum += UInt64(number)
            if Double(sum) >= wanted { return Self.upperEnd(of: place) / 1e6 }
        }
        return 0
    }

    private static func place(of value: UInt64) -> Int {
        guard value >= UInt64(steps) else { return Int(value) }
        let shift = 63 - value.leadingZeroBitCount - stepBits
        return (shift + 1) << stepBits | Int(value >> UInt64(shift)) & (steps - 1)
    }

    /// Returns the upper bound of a bucket in nanoseconds.
    private static func upperEnd(of place: Int) -> Double {
        guard place >= steps else { return Double(place) }
        let shift = place >> stepBits - 1
        return Double(UInt64(place & (steps - 1) | steps) << UInt64(shift)) + Double(1 << shift)
    }
}

/// The time that loads spent in each stage.
struct StageMetrics: Sendable {
    private var counts = [LatencyCounts](
        repeating: LatencyCounts(), count: StageTimings.parts.count)

    mutating func record(_ timings: StageTimings) {
        for (place, part) in StageTimings.parts.enumerated() {
            counts[place].record(nanoseconds: UInt64(max(0, timings[keyPath: part.path]) * 1e6))
        }
    }

    /// The median milliseconds by stage name.
    var medians: [String: Double] {
        Dictionary(
            uniqueKeysWithValues: zip(StageTimings.parts, counts).map { part, counts in
                (part.name, counts.milliseconds(at: 0.5))
            })
    }
}
