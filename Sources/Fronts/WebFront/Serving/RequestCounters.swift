package import Messages

/// What became of the requests of a front. A value without a clock.
package struct RequestCounters: Hashable, Sendable {
    /// Requests that were answered to the end, by status from `statuses.lowerBound` on.
    private var answered = [UInt64](repeating: 0, count: statuses.count)
    /// Those among them that the client had already.
    package private(set) var notModified: UInt64 = 0
    /// Requests whose peer left before.
    package private(set) var abandoned: UInt64 = 0
    /// Bytes of bodies.
    package private(set) var bytes: UInt64 = 0
    /// From the end of the head to the end of the answer, of those that were answered.
    package private(set) var durations = LatencyHistogram()

    /// Other statuses count as the nearest of these.
    package static let statuses: ClosedRange<UInt16> = 100...599

    package init() {}

    /// All that were answered.
    package var answeredCount: UInt64 { answered.reduce(0, &+) }

    /// Those that were answered, by status; none that never was.
    package var byStatus: [(status: UInt16, count: UInt64)] {
        zip(Self.statuses, answered).filter { $0.1 > 0 }.map { ($0.0, $0.1) }
    }

    /// A request was answered to the end.
    package mutating func answered(
        _ status: UInt16, bytes count: Int, from begin: Instant, to end: Instant
    ) {
        let (first, last) = (Self.statuses.lowerBound, Self.statuses.upperBound)
        answered[Int(min(max(status, first), last) - first)] &+= 1
        if status == 304 { notModified &+= 1 }
        bytes &+= UInt64(clamping: count)
        durations.record(from: begin, to: end)
    }

    /// A peer left before its answer was there.
    package mutating func left() { abandoned &+= 1 }
}
