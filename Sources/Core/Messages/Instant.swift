/// A moment of the monotonic clock in nanoseconds; only `Runtime` reads that clock.
public struct Instant: Hashable, Comparable, Sendable {
    /// Nanoseconds since an arbitrary start of this machine.
    public var nanoseconds: UInt64

    /// Takes a reading of the clock.
    public init(nanoseconds: UInt64) { self.nanoseconds = nanoseconds }

    /// The moment `milliseconds` later; stays at the last moment instead of overflowing.
    public func adding(milliseconds: Int) -> Instant {
        let step = UInt64(max(0, milliseconds)).multipliedReportingOverflow(by: 1_000_000)
        let sum = nanoseconds.addingReportingOverflow(step.partialValue)
        return Instant(nanoseconds: step.overflow || sum.overflow ? .max : sum.partialValue)
    }

    /// Whole milliseconds from `earlier`, rounded up; 0 where `earlier` is later.
    public func milliseconds(since earlier: Instant) -> Int {
        guard nanoseconds > earlier.nanoseconds else { return 0 }
        return Int(clamping: (nanoseconds - earlier.nanoseconds - 1) / 1_000_000 + 1)
    }

    /// Fractions of a millisecond from `earlier`, for timings.
    public func fractionalMilliseconds(since earlier: Instant) -> Double {
        guard nanoseconds > earlier.nanoseconds else { return 0 }
        return Double(nanoseconds - earlier.nanoseconds) / 1e6
    }

    /// Earlier moments are smaller.
    public static func < (left: Instant, right: Instant) -> Bool {
        left.nanoseconds < right.nanoseconds
    }
}
