/// What became of loads: how many, how long each took, how many in each slice of the time.
struct LoadFigures: Hashable, Sendable {
    /// Slices of the time, for the spread.
    static let slices = 10

    private(set) var requests = 0
    /// Loads that failed, and those that were not what is measured.
    private(set) var errors = 0
    private(set) var bytes = 0
    private(set) var latencies = LatencyCounts()
    private var bySlice = [Int](repeating: 0, count: slices)
    /// How long it lasted, in seconds.
    var seconds = 0.0

    /// One load of so many nanoseconds; nil bytes: it went wrong.
    mutating func count(nanoseconds: UInt64, bytes: Int?, slice: Int) {
        requests += 1
        guard let bytes else { return errors += 1 }
        self.bytes += bytes
        latencies.record(nanoseconds: nanoseconds)
        bySlice[min(max(slice, 0), Self.slices - 1)] += 1
    }

    /// Loads beside these, in the same time.
    mutating func add(_ other: LoadFigures) {
        requests += other.requests
        errors += other.errors
        bytes += other.bytes
        latencies.add(other.latencies)
        for slice in bySlice.indices { bySlice[slice] += other.bySlice[slice] }
        seconds = max(seconds, other.seconds)
    }

    /// Loads that were made after these, in a time of their own; a slice is that of its turn.
    mutating func append(_ other: LoadFigures) {
        let before = seconds
        add(other)
        seconds = before + other.seconds
    }

    /// Good ones a second.
    var rate: Double { seconds > 0 ? Double(requests - errors) / seconds : 0 }

    /// The same of the slowest, the median and the fastest slice.
    var rates: (least: Double, median: Double, most: Double) {
        let sorted = bySlice.sorted()
        func rate(_ number: Int) -> Double {
            seconds > 0 ? Double(number * Self.slices) / seconds : 0
        }
        return (rate(sorted[0]), rate(sorted[Self.slices / 2]), rate(sorted[Self.slices - 1]))
    }
}
