import Linux
public import Messages

/// What the supervisor does next: events in, actions out, no I/O, no clock.
///
/// A slot is a place for one child; it is filled again whenever its child ends. Fronts end
/// first, so that nobody asks any more; then the coordinator, if there is one, drains and tells the
/// workers, which end by themselves.
public struct SupervisorState: Sendable {
    /// How long `SIGTERM` may take until everything left is killed (SEMANTICS §14.10).
    public static let drainMilliseconds = 8_000
    /// How long workers may take to end after their coordinator, before they are told to.
    public static let workersGraceMilliseconds = 500
    /// How long fronts have, of that, until the coordinator is told as well.
    public static let frontsMilliseconds = 3_000
    /// How long children may take to end after they were killed.
    public static let killMilliseconds = 1_000
    /// How long segments of a dead child stay: until then somebody may still read them.
    public static let orphanGraceMilliseconds = 2_000
    /// How long a child may take from its start to its first sign of life: a hundred times what it
    /// needs on a machine that is idle. Waiting for the coordinator is not part of it.
    public static let startMilliseconds = 30_000
    /// How much later than it is due a tick may come and still count.
    static let latenessMilliseconds = 500
    /// Codes with which a child says that it can never start with these settings: 64 usage,
    /// 78 configuration, such as a cache directory that another cache holds.
    public static let refusals: Set<Int32> = [64, 78]

    enum Phase: Hashable, Sendable {
        case running
        /// Fronts were told to end; all else goes on meanwhile.
        case endingFronts(until: Instant, frontsUntil: Instant)
        case draining(until: Instant, workersUntil: Instant?)
        /// Everything left was killed. A process that waits in the kernel for a disk ends only when
        /// that answers, and is not waited for any longer.
        case killing(until: Instant)
        case finished
    }

    var phase = Phase.running
    var end = SupervisorEnd.drained
    var slots: [SupervisorSlot]
    var orphans: [OrphanedLife] = []
    var wasReady = false
    var pulses = PulseWatch()
    let startMilliseconds: Int

    /// One slot for each kind named, in that order; put the coordinator first. Those of `foreign`
    /// are somebody else's programs.
    public init(
        kinds: [ProcessKind], foreign: Set<Int> = [],
        startMilliseconds: Int = Self.startMilliseconds
    ) {
        slots = kinds.enumerated().map { slot, kind in
            SupervisorSlot(kind: kind, isForeign: foreign.contains(slot))
        }
        self.startMilliseconds = startMilliseconds
    }

    /// When `tick` is due at the latest; nil: nothing waits for the clock.
    public var nextDeadline: Instant? {
        var deadlines = slots.compactMap(\.waitsUntil) + orphans.map(\.removedAt)
        if phase == .running {
            deadlines += pulses.nextLook.map { [$0] } ?? []
            deadlines += slots.compactMap(\.startLimit?.until)
        }
        if case .endingFronts(_, let frontsUntil) = phase { deadlines.append(frontsUntil) }
        if case .draining(let until, let workersUntil) = phase {
            deadlines += [until] + (workersUntil.map { [$0] } ?? [])
        }
        if case .killing(let until) = phase { deadlines.append(until) }
        return deadlines.min()
    }

    /// Takes one event and appends what is to be done, in order.
    public mutating func handle(
        _ event: SupervisorEvent, at now: Instant, into actions: inout [SupervisorAction]
    ) {
        switch event {
        case .start: spawnDueSlots(at: now, into: &actions, all: true)
        case .spawnFailed(let slot): spawnFailed(slot, at: now, into: &actions)
        case .begun(let slot, let incarnation): slots[slot].begin(incarnation)
        case .welcomed(let slot, let incarnation):
            welcomed(slot, incarnation, into: &actions)
        case .ended(let slot, let status, let hadJob):
            ended(slot, ChildEnd(status: status, hadJob: hadJob), at: now, into: &actions)
        case .stopRequested: stopRequested(at: now, into: &actions)
        case .looked(let counters, let waited):
            looked(counters, waited, at: now, into: &actions)
        case .tick: tick(at: now, into: &actions)
        }
        finishIfDone(into: &actions)
    }

    /// Whether the counters of the children are wanted now.
    func wantsLook(at now: Instant) -> Bool { phase == .running && pulses.isDue(at: now) }

    /// The life of a child that has begun, whose counter counts.
    func incarnation(of slot: Int) -> Incarnation? { slots[slot].incarnation }

    /// Whether a child has shown nothing since the last look, so that it matters what it waited
    /// for: it starts, or its counter is what it was.
    func isSilent(_ slot: Int, counter: UInt64?) -> Bool {
        counter.map { pulses.standsStill(slot, at: $0) } ?? (slots[slot].startLimit != nil)
    }

    /// Whether a child is part of the stack.
    func isWelcomed(_ slot: Int) -> Bool { slots[slot].isWelcomed }

    private mutating func looked(
        _ counters: [Int: UInt64], _ waited: [Int: Int], at now: Instant,
        into actions: inout [SupervisorAction]
    ) {
        excuseStarts(waited)
        var living: [Int: (incarnation: Incarnation, value: UInt64)] = [:]
        for (slot, value) in counters {
            if let incarnation = incarnation(of: slot) { living[slot] = (incarnation, value) }
        }
        for slot in pulses.looked(living, waited: waited, at: now) where phase == .running {
            let standstill = pulses.forget(slot)
            actions += [.reportHang(slot: slot, standstill), .signal(slot: slot, .kill)]
        }
    }

    private mutating func tick(at now: Instant, into actions: inout [SupervisorAction]) {
        for orphan in orphans where orphan.removedAt <= now {
            actions.append(.removeSegments(orphan.kind, orphan.incarnation))
        }
        orphans.removeAll { $0.removedAt <= now }
        if case .endingFronts(let until, let frontsUntil) = phase, frontsUntil <= now {
            drainStack(until: until, into: &actions)
        }
        if case .draining(let until, let workersUntil) = phase {
            if until <= now {
                kill(.limitPassed, at: now, into: &actions)
            } else if let workersUntil, workersUntil <= now {
                phase = .draining(until: until, workersUntil: nil)
                endWorkers(into: &actions)
            }
        }
        if case .killing(let until) = phase, until <= now { leaveUnkilled(into: &actions) }
        endLateStarts(at: now, into: &actions)
        spawnDueSlots(at: now, into: &actions)
    }

    private mutating func finishIfDone(into actions: inout [SupervisorAction]) {
        guard phase != .running, phase != .finished, slots.allSatisfy({ $0.isDone }) else { return }
        phase = .finished
        orphans = []
        actions.append(.finish(end))
    }
}
