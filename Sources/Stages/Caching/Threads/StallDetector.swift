/// Decides whether the thread of a disk is stalled, from when its current operation began.
///
/// A stalled thread is left alone until it has done everything that it was asked. A disk that
/// stalls again soon after that is left alone for longer each time, so that clients do not wait
/// for each of its slow operations. Times are monotonic nanoseconds, which the caller passes in.
struct StallDetector: Sendable {
    /// What a look found out.
    enum Change: Hashable { case stalled, recovered }

    /// How long an operation may take: far longer than on a disk that works, and shorter than
    /// clients wait.
    static let limit: UInt64 = 5_000_000_000
    /// How long a disk that stalled twice is left alone at least, and at most.
    static let pauses: ClosedRange<UInt64> = 5_000_000_000...60_000_000_000
    /// How long a disk has to work until an earlier stall no longer counts.
    static let probation: UInt64 = 60_000_000_000

    /// When the operation began that does not end.
    private(set) var stalledSince: UInt64?
    /// Stalls so far.
    private(set) var count: UInt64 = 0
    private var idleSince: UInt64?
    private var recovered: UInt64?
    private var pause: UInt64 = 0

    var isStalled: Bool { stalledSince != nil }

    /// Takes what the thread does at `now`: `busySince` is when its current operation began; `nil`
    /// if it has nothing to do.
    mutating func look(busySince: UInt64?, now: UInt64) -> Change? {
        guard isStalled else {
            guard let busySince, now >= busySince, now - busySince >= Self.limit else { return nil }
            (stalledSince, idleSince) = (busySince, nil)
            count += 1
            pause = nextPause(now)
            return .stalled
        }
        guard busySince == nil else {
            idleSince = nil
            return nil
        }
        let idle = idleSince ?? now
        idleSince = idle
        guard now - idle >= pause else { return nil }
        (stalledSince, recovered) = (nil, now)
        return .recovered
    }

    private func nextPause(_ now: UInt64) -> UInt64 {
        guard let recovered, now - recovered < Self.limit + Self.probation else { return 0 }
        return min(max(pause * 2, Self.pauses.lowerBound), Self.pauses.upperBound)
    }
}
