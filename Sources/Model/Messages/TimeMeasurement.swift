/// A time of the monotonic clock in nanoseconds; only `Runtime` reads that clock.
public struct Instant: Hashable, Comparable, Sendable {
    /// Nanoseconds since an arbitrary start on this machine.
    public var nanoseconds: UInt64

    /// Creates an instant from a clock reading.
    public init(nanoseconds: UInt64) { self.nanoseconds = nanoseconds }

    /// Returns the instant `milliseconds` later, clamped to the last instant on overflow.
    public func adding(milliseconds: Int) -> Instant {
        let step = UInt64(max(0, milliseconds)).multipliedReportingOverflow(by: 1_000_000)
        let sum = nanoseconds.addingReportingOverflow(step.partialValue)
        return Instant(nanoseconds: step.overflow || sum.overflow ? .max : sum.partialValue)
    }

    /// Returns the milliseconds since `earlier`, rounded up; 0 if `earlier` is later.
    public func milliseconds(since earlier: Instant) -> Int {
        guard nanoseconds > earlier.nanoseconds else { return 0 }
        return Int(clamping: (nanoseconds - earlier.nanoseconds - 1) / 1_000_000 + 1)
    }

    /// Returns the milliseconds since `earlier` with fractions, for timings.
    public func fractionalMilliseconds(since earlier: Instant) -> Double {
        guard nanoseconds > earlier.nanoseconds else { return 0 }
        return Double(nanoseconds - earlier.nanoseconds) / 1e6
    }

    /// Compares instants; earlier ones are smaller.
    public static func < (left: Instant, right: Instant) -> Bool {
        left.nanoseconds < right.nanoseconds
    }
}

/// A histogram of durations with 12 buckets per doubling (6 % each): bucket *n* holds durations of
/// at most 2^(n/12) microseconds.
///
/// Counts only grow, so the difference of two snapshots describes the time between them.
public struct LatencyHistogram: Hashable, Sendable {
    /// The last bucket, which also holds all longer durations: an hour is 2^31.7 microseconds.
    public static let lastBucket = 384
    /// The number of buckets per doubling.
    public static let bucketsPerOctave = 12
    /// Counts by bucket; missing ones are 0.
    public private(set) var counts: [Int: UInt64] = [:]
    /// The exact sum of all durations in microseconds, saturating at the maximum.
    public private(set) var sum: UInt64 = 0

    /// Creates an empty histogram.
    public init() {}

    /// Creates a histogram of these counts with a total of `sum` microseconds. Invalid buckets are
    /// ignored.
    public init(counts: [Int: UInt64], sum: UInt64) {
        self.counts = counts.filter { (0...Self.lastBucket).contains($0.key) && $0.value > 0 }
        self.sum = sum
    }

    /// Records a duration.
    public mutating func record(microseconds: UInt64) {
        counts[Self.bucket(of: microseconds), default: 0] += 1
        let (sum, isMore) = sum.addingReportingOverflow(microseconds)
        self.sum = isMore ? .max : sum
    }

    /// The number of recorded durations.
    public var count: UInt64 { counts.values.reduce(0, &+) }

    /// Returns the quantile `share` (0 to 1) in microseconds, as the upper end of its bucket; `nil`
    /// if nothing was recorded.
    public func microseconds(at share: Double) -> Double? {
        let total = count
        guard total > 0 else { return nil }
        let wanted = max(1, (Double(total) * min(max(share, 0), 1)).rounded(.up))
        var sum: UInt64 = 0
        for bucket in counts.keys.sorted() {
            sum += counts[bucket] ?? 0
            if Double(sum) >= wanted { return Self.upperEnd(of: bucket) }
        }
        return nil
    }

    /// Returns the number of durations up to the upper end of a bucket.
    public func count(upTo bucket: Int) -> UInt64 {
        counts.reduce(0) { $1.key <= bucket ? $0 &+ $1.value : $0 }
    }

    /// Adds the counts of another histogram.
    public mutating func add(_ other: LatencyHistogram) {
        let both = sum.addingReportingOverflow(other.sum)
        self = LatencyHistogram(
            counts: counts.merging(other.counts, uniquingKeysWith: &+),
            sum: both.overflow ? .max : both.partialValue)
    }

    /// Returns what was recorded since `earlier`, an earlier snapshot of the same histogram.
    public func since(_ earlier: LatencyHistogram) -> LatencyHistogram {
        LatencyHistogram(
            counts: counts.reduce(into: [:]) { rest, entry in
                let before = earlier.counts[entry.key] ?? 0
                rest[entry.key] = entry.value > before ? entry.value - before : 0
            }, sum: sum > earlier.sum ? sum - earlier.sum : 0)
    }

    /// Records the duration between two instants.
    public mutating func record(from start: Instant, to end: Instant) {
        record(microseconds: (max(start, end).nanoseconds - start.nanoseconds) / 1_000)
    }

    /// Returns the upper end of a bucket in microseconds.
    public static func upperEnd(of bucket: Int) -> Double {
        ends[min(max(bucket, 0), lastBucket)]
    }

    private static func bucket(of microseconds: UInt64) -> Int {
        var (low, high) = (0, lastBucket)
        while low < high {
            let middle = (low + high) / 2
            if ends[middle] < Double(microseconds) { low = middle + 1 } else { high = middle }
        }
        return low
    }

    /// 2^(n/12), computed by multiplication because the standard library has no power function.
    private static let ends: [Double] = {
        let twelfth = 1.0594630943592953
        var ends: [Double] = []
        var octave = 1.0
        while ends.count <= lastBucket {
            var end = octave
            for _ in 0..<12 where ends.count <= lastBucket {
                ends.append(end)
                end *= twelfth
            }
            octave *= 2
        }
        return ends
    }()
}

/// Parses durations: an integer with a unit, such as `90s`, `15m`, `12h`, `7d` or `4w`; seconds
/// without a unit.
public enum DurationText {
    private static let units: [(unit: Character, seconds: Int64)] = [
        ("s", 1), ("m", 60), ("h", 3_600), ("d", 86_400), ("w", 7 * 86_400),
    ]

    /// Returns the seconds, at most a thousand years; `nil` for anything else.
    public static func seconds(of text: String) -> Int64? {
        let unit = units.first { text.last == $0.unit }
        guard let number = PlainNumber.integer(unit == nil ? text[...] : text.dropLast()),
            number >= 0
        else { return nil }
        let (seconds, overflow) = Int64(number).multipliedReportingOverflow(by: unit?.seconds ?? 1)
        return !overflow && seconds <= secondsMax ? seconds : nil
    }

    /// A thousand years, in seconds.
    public static let secondsMax: Int64 = 1_000 * 366 * 86_400

    /// The description of a valid text, for errors.
    public static let expected = "a time such as 90s, 15m, 12h, 7d or 4w"
}
