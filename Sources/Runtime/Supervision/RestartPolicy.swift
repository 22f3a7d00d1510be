import Linux
public import Messages

/// When a child that ended is started again: at once, unless it fails again and again
/// (SEMANTICS §14.8).
///
/// An end counts when the child was not welcomed in that life, or crashed (a signal other than
/// SIGKILL and SIGTERM). A crash of a welcomed child with a job does not count: the content that
/// caused it is quarantined, and other content must not wait for a worker because of it. From the
/// third counted end within ten seconds on, the child waits: 100 ms, doubling to 5 s. A `Welcome`
/// forgives ends without one, never a crash. The ten seconds are of time in which the child ran, so
/// that the waiting itself does not end the backoff. Of somebody else's program every end counts,
/// and its own word that it was welcomed forgives none.
public struct RestartPolicy: Hashable, Sendable {
    private struct CountedEnd: Hashable, Sendable {
        let ranNanoseconds: UInt64
        let crashed: Bool
    }

    private var counted: [CountedEnd] = []
    private var ranNanoseconds: UInt64 = 0
    private var startedAt: Instant?
    private var isWelcomed = false
    private let isForeign: Bool

    /// Nothing has happened yet.
    public init(isForeign: Bool = false) { self.isForeign = isForeign }

    /// Ends before one has to wait.
    public static let endsBeforeBackoff = 3
    /// The span of running time within which ends count together.
    public static let windowMilliseconds = 10_000
    /// The first wait.
    public static let firstDelayMilliseconds = 100
    /// The longest wait.
    public static let lastDelayMilliseconds = 5_000

    /// A new life began.
    public mutating func started(at now: Instant) {
        startedAt = now
        isWelcomed = false
    }

    /// The coordinator welcomed this life.
    public mutating func welcomed() {
        guard !isForeign else { return }
        isWelcomed = true
        counted.removeAll { !$0.crashed }
    }

    /// This life ended; returns the milliseconds to wait before the next.
    mutating func ended(_ end: ChildEnd, at now: Instant) -> Int {
        if let startedAt, startedAt < now {
            ranNanoseconds += now.nanoseconds - startedAt.nanoseconds
        }
        startedAt = nil
        let crashed = end.status.isCrash && !(end.hadJob && isWelcomed)
        guard crashed || !isWelcomed else { return 0 }
        counted.append(CountedEnd(ranNanoseconds: ranNanoseconds, crashed: crashed))
        let window = UInt64(Self.windowMilliseconds) * 1_000_000
        counted.removeAll { ranNanoseconds - $0.ranNanoseconds > window }
        // Sixteen ends are beyond the longest delay already.
        counted = Array(counted.suffix(16))
        return Self.delay(afterEnds: counted.count)
    }

    private static func delay(afterEnds count: Int) -> Int {
        guard count >= endsBeforeBackoff else { return 0 }
        let doublings = min(count - endsBeforeBackoff, 16)
        return min(firstDelayMilliseconds << doublings, lastDelayMilliseconds)
    }
}

/// How a child ended.
struct ChildEnd: Hashable, Sendable {
    let status: ChildStatus
    /// Whether its crash record names a job.
    var hadJob = false
}

extension ChildStatus {
    /// Ended by a signal that the child brought upon itself: neither SIGKILL nor SIGTERM.
    var isCrash: Bool {
        guard case .signalled(let signal, _) = self else { return false }
        return signal != .kill && signal != .terminate
    }
}
