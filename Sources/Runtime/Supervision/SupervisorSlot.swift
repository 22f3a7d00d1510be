import Linux
import Messages

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
