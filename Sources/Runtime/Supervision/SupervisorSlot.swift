import Linux
import Messages

/// The place of one child, filled again whenever its child ends.
struct SupervisorSlot: Sendable {
    /// What is in the slot.
    enum Life: Hashable, Sendable {
        /// Nothing yet, or not before that moment.
        case waiting(until: Instant)
        /// A child; its incarnation once it was welcomed.
        case running(Incarnation?)
        /// Nothing any more.
        case done
    }

    let kind: WorkerKind
    var life = Life.waiting(until: Instant(nanoseconds: .max))
    private(set) var restarts: UInt32 = 0
    private var policy = RestartPolicy()
    private var hasRun = false

    init(kind: WorkerKind) { self.kind = kind }

    var isRunning: Bool {
        if case .running = life { true } else { false }
    }

    var isWelcomed: Bool {
        if case .running(.some) = life { true } else { false }
    }

    var isDone: Bool { life == .done }

    var waitsUntil: Instant? {
        if case .waiting(let until) = life, hasRun { until } else { nil }
    }

    func isDue(at now: Instant) -> Bool { waitsUntil.map { $0 <= now } ?? false }

    mutating func start(at now: Instant) {
        if hasRun { restarts += 1 }
        hasRun = true
        policy.started(at: now)
        life = .running(nil)
    }

    mutating func welcome(_ incarnation: Incarnation) {
        guard isRunning else { return }
        policy.welcomed()
        life = .running(incarnation)
    }

    /// Returns the milliseconds until the next start.
    mutating func end(_ status: ChildStatus, at now: Instant) -> Int {
        let delay = policy.ended(status, at: now)
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
