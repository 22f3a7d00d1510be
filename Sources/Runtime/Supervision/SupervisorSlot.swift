import Linux
public import Messages

/// The place of one child, filled again whenever its child ends.
struct SupervisorSlot: Sendable {
    /// What is in the slot.
    enum Life: Hashable, Sendable {
        /// Nothing yet, or not before that moment.
        case waiting(until: Instant)
        /// A child.
        case running(Stage)
        /// Nothing any more.
        case done
    }

    /// How far a child is.
    enum Stage: Hashable, Sendable {
        /// It has said nothing yet, and may take so long; nil once it is being killed for that.
        case starting(StartLimit?)
        /// It looks for its coordinator, which may take as long as it wants.
        case begun(Incarnation)
        /// It is part of the stack.
        case welcomed(Incarnation)
    }

    let kind: ProcessKind
    /// Whether it is somebody else's program: the stack is ready without it, and it decides nothing
    /// for the others.
    let isForeign: Bool
    var life = Life.waiting(until: Instant(nanoseconds: .max))
    private(set) var restarts: UInt32 = 0
    private var policy: RestartPolicy
    private var hasRun = false

    init(kind: ProcessKind, isForeign: Bool = false) {
        self.kind = kind
        self.isForeign = isForeign
        policy = RestartPolicy(isForeign: isForeign)
    }

    var isRunning: Bool {
        if case .running = life { true } else { false }
    }

    var isWelcomed: Bool {
        if case .running(.welcomed) = life { true } else { false }
    }

    /// Who runs, as far as it has said so.
    var incarnation: Incarnation? {
        switch life {
        case .running(.begun(let incarnation)), .running(.welcomed(let incarnation)): incarnation
        case .running(.starting), .waiting, .done: nil
        }
    }

    /// How long a child that says nothing may take to start.
    var startLimit: StartLimit? {
        if case .running(.starting(let limit)) = life { limit } else { nil }
    }

    var isDone: Bool { life == .done }

    var waitsUntil: Instant? {
        if case .waiting(let until) = life, hasRun { until } else { nil }
    }

    func isDue(at now: Instant) -> Bool { waitsUntil.map { $0 <= now } ?? false }

    mutating func start(at now: Instant, limit: StartLimit) {
        if hasRun { restarts += 1 }
        hasRun = true
        policy.started(at: now)
        life = .running(.starting(limit))
    }

    /// Gives a child that says nothing another limit, or, as it is being killed, none.
    mutating func startMayTake(_ limit: StartLimit?) {
        guard case .running(.starting) = life else { return }
        life = .running(.starting(limit))
    }

    mutating func begin(_ incarnation: Incarnation) {
        guard case .running(.starting) = life else { return }
        life = .running(.begun(incarnation))
    }

    mutating func welcome(_ incarnation: Incarnation) {
        guard isRunning else { return }
        policy.welcomed()
        life = .running(.welcomed(incarnation))
    }

    /// Returns the milliseconds until the next start.
    mutating func end(_ child: ChildEnd, at now: Instant) -> Int {
        let delay = policy.ended(child, at: now)
        life = .waiting(until: now.adding(milliseconds: delay))
        return delay
    }

    mutating func stopWaiting() {
        if case .waiting = life { life = .done }
    }
}

/// A dead child's segments, and when they go.
struct OrphanedLife: Hashable, Sendable {
    let kind: WorkerKind
    let incarnation: Incarnation
    let removedAt: Instant
}

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

/// Until when a child has to give its first sign of life.
///
/// Time in which it waited for a processor does not count, and neither does a limit that is seen to
/// have passed too late: whoever kept this process from running may have kept the child. Both move
/// the limit, by three times what was given at first and no further.
struct StartLimit: Hashable, Sendable {
    /// When it has taken too long.
    private(set) var until: Instant
    private let milliseconds: Int
    /// Milliseconds by which the limit was moved.
    private(set) var movedMilliseconds = 0

    private static let movesMax = 3

    /// So many milliseconds from `now` on.
    init(milliseconds: Int, from now: Instant) {
        self.milliseconds = milliseconds
        until = now.adding(milliseconds: milliseconds)
    }

    /// It waited for a processor meanwhile.
    mutating func waited(milliseconds waited: Int) {
        until = until.adding(milliseconds: take(waited))
    }

    /// Begins anew, as far as that is allowed; false where it is not.
    mutating func beginAnew(at now: Instant) -> Bool {
        let taken = take(milliseconds)
        until = now.adding(milliseconds: taken)
        return taken > 0
    }

    private mutating func take(_ wanted: Int) -> Int {
        let taken = min(wanted, Self.movesMax * milliseconds - movedMilliseconds)
        movedMilliseconds += taken
        return taken
    }
}
