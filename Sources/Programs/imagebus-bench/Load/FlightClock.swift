import Linux

/// Where in the time of a measurement a load is. One reading of the clock ends a load and begins
/// the next one.
struct FlightClock: Sendable {
    private let start = MonotonicClock.now()
    let end: UInt64

    init(_ seconds: Double) { end = start + UInt64(seconds * 1e9) }

    var elapsed: Double { Double(MonotonicClock.now() - start) / 1e9 }

    func count(_ bytes: Int?, since begin: UInt64, _ figures: inout LoadFigures) -> UInt64 {
        let now = MonotonicClock.now()
        figures.count(
            nanoseconds: now - begin, bytes: bytes,
            slice: Int((now - start) * UInt64(LoadFigures.slices) / (end - start)))
        return now
    }
}
