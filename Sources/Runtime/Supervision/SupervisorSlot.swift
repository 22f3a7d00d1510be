import Linux
package import Model

/// The slot of one child, refilled whenever its child exits.
struct SupervisorSlot: Sendable {
    /// The contents of the slot.
    enum Life: Hashable, Sendable {
        /// Nothing yet, or not before `until`.
        case waiting(until: Instant)
        /// A running child.
        case running(Stage)
        /// Nothing any more.
        case done
    }

    /// The startup stage of a child.
    enum Stage: Hashable, Sendable {
        /// No report yet; must report within the limit, which is nil while the child is being
        /// killed for exceeding it.
        case starting(StartLimit?)
        /// Connecting to its coordinator, without a time limit.
        case begun(Incarnation)
        /// Welcomed by the coordinator.
        case welcomed(Incarnation)
    }

    let kind: ProcessKind
    /// Whether it is an external program, which affects neither the stack's readiness nor the other
    /// children.
    let isExternal: Bool
    var life = Life.waiting(until: Instant(nanoseconds: .max))
    private(set) var restarts: UInt32 = 0
    private var policy: RestartPolicy
    private var hasRun = false

    init(kind: ProcessKind, isExternal: Bool = false) {
        self.kind = kind
        self.isExternal = isExternal
        policy = RestartPolicy(isExternal: isExternal)
    }

    var isRunning: Bool {
        if case .running = life { true } else { false }
    }

    var isWelcomed: Bool {
        if case .running(.welcomed) = life { true } else { false }
    }

    /// The incarnation of the child, once it has reported it.
    var incarnation: Incarnation? {
        switch life {
        case .running(.begun(let incarnation)), .running(.welcomed(let incarnation)): incarnation
        case .running(.starting), .waiting, .done: nil
        }
    }

    /// The start limit of a child that has not reported yet.
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

    /// Sets the start limit of a child that has not reported yet, or nil if it is being killed.
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

/// The segments of a dead child, and when to remove them.
struct OrphanedLife: Hashable, Sendable {
    let kind: WorkerKind
    let incarnation: Incarnation
    let removedAt: Instant
}

/// When a child that exited is restarted: immediately, unless it fails repeatedly
/// (SEMANTICS §14.8).
///
/// An exit counts if the child was not welcomed in that incarnation, or crashed (a signal other
/// than SIGKILL and SIGTERM). A crash of a welcomed child with a job doesn't count: the content
/// that caused it is quarantined, and must not delay other content. From the third counted exit
/// within ten seconds, restarts are delayed by 100 ms, doubling up to 5 s. A `Welcome` clears exits
/// without one, but never crashes. The ten seconds are running time of the child, so that the
/// delays themselves don't end the backoff. Every exit of an external program counts, and its own
/// report of being welcomed clears nothing.
package struct RestartPolicy: Hashable, Sendable {
    private struct CountedEnd: Hashable, Sendable {
        let ranNanoseconds: UInt64
        let crashed: Bool
    }

    private var counted: [CountedEnd] = []
    private var ranNanoseconds: UInt64 = 0
    private var startedAt: Instant?
    private var isWelcomed = false
    private let isExternal: Bool

    /// Creates the initial state.
    package init(isExternal: Bool = false) { self.isExternal = isExternal }

    /// The number of counted exits that start the backoff.
    package static let endsBeforeBackoff = 3
    /// The span of running time in which exits are counted, in milliseconds.
    package static let windowMilliseconds = 10_000
    package static let firstDelayMilliseconds = 100
    package static let lastDelayMilliseconds = 5_000

    /// Records that a new incarnation started.
    package mutating func started(at now: Instant) {
        startedAt = now
        isWelcomed = false
    }

    /// Records that the coordinator welcomed this incarnation.
    package mutating func welcomed() {
        guard !isExternal else { return }
        isWelcomed = true
        counted.removeAll { !$0.crashed }
    }

    /// Records that this incarnation exited; returns the milliseconds to wait before the next.
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
        // Sixteen exits already reach the maximum delay.
        counted = Array(counted.suffix(16))
        return Self.delay(afterEnds: counted.count)
    }

    private static func delay(afterEnds count: Int) -> Int {
        guard count >= endsBeforeBackoff else { return 0 }
        let doublings = min(count - endsBeforeBackoff, 16)
        return min(firstDelayMilliseconds << doublings, lastDelayMilliseconds)
    }
}

/// How a child exited.
struct ChildEnd: Hashable, Sendable {
    let status: ChildStatus
    /// Whether its crash record contains a job.
    var hadJob = false
}

extension ChildStatus {
    /// Whether it was ended by a signal of its own making: neither SIGKILL nor SIGTERM.
    var isCrash: Bool {
        guard case .signaled(let signal, _) = self else { return false }
        return signal != .kill && signal != .terminate
    }
}

/// The time by which a child must show its first sign of life.
///
/// Time spent waiting for a processor doesn't count, nor does an expiry that is noticed late,
/// because whatever delayed this process may have delayed the child. Both extend the limit, by at
/// most three times the initial limit.
struct StartLimit: Hashable, Sendable {
    /// The current limit.
    private(set) var until: Instant
    private let milliseconds: Int
    /// The milliseconds by which the limit was extended.
    private(set) var movedMilliseconds = 0

    private static let movesMax = 3

    init(milliseconds: Int, from now: Instant) {
        self.milliseconds = milliseconds
        until = now.adding(milliseconds: milliseconds)
    }

    /// Extends the limit by time spent waiting for a processor.
    mutating func waited(milliseconds waited: Int) {
        until = until.adding(milliseconds: grant(waited))
    }

    /// Restarts the limit if the maximum extension allows it; returns false if not.
    mutating func restart(at now: Instant) -> Bool {
        let taken = grant(milliseconds)
        until = now.adding(milliseconds: taken)
        return taken > 0
    }

    private mutating func grant(_ wanted: Int) -> Int {
        let taken = min(wanted, Self.movesMax * milliseconds - movedMilliseconds)
        movedMilliseconds += taken
        return taken
    }
}
