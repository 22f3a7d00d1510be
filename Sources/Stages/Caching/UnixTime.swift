/// A moment of the calendar clock, handed in by whoever calls: nothing here reads a clock.
///
/// Ages outlive restarts, therefore not the monotonic clock.
public struct UnixTime: Hashable, Comparable, Sendable {
    /// Milliseconds since 1970.
    public var milliseconds: Int64

    /// Takes a reading of the clock.
    public init(milliseconds: Int64) { self.milliseconds = milliseconds }

    /// Takes what was stored; `nil` for what no clock says: before 1970, or after the year 9999.
    init?(plausibleMilliseconds: Int64) {
        guard (0..<253_402_300_800_000).contains(plausibleMilliseconds) else { return nil }
        self.init(milliseconds: plausibleMilliseconds)
    }

    /// Earlier moments are smaller.
    public static func < (left: UnixTime, right: UnixTime) -> Bool {
        left.milliseconds < right.milliseconds
    }

    /// The moment so many milliseconds later, or earlier where negative; stays within the range.
    func adding(milliseconds step: Int64) -> UnixTime {
        let (sum, overflow) = milliseconds.addingReportingOverflow(step)
        return UnixTime(milliseconds: overflow ? (step < 0 ? .min : .max) : sum)
    }
}
