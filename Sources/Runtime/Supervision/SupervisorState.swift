public import Linux
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

/// What happens to the supervisor; slots count from 0.
public enum SupervisorEvent: Hashable, Sendable {
    /// Begin. Once, first.
    case start
    /// A program could not be started.
    case spawnFailed(slot: Int)
    /// A child has started, and looks for its coordinator.
    case begun(slot: Int, Incarnation)
    /// The coordinator welcomed a child, or the coordinator itself is there.
    case welcomed(slot: Int, Incarnation)
    /// A child ended and was reaped; `hadJob` if its crash record names a job.
    case ended(slot: Int, ChildStatus, hadJob: Bool = false)
    /// SIGTERM or SIGINT: the first drains, the second ends all now.
    case stopRequested
    /// The counters of children that have begun, by slot; one that stands still is a hang. Of
    /// children that show nothing, the milliseconds that they `waited` for a processor since the
    /// last look, which are no hang.
    case looked([Int: UInt64], waited: [Int: Int] = [:])
    /// Time passed.
    case tick
}

/// What the supervisor is to do, in order.
public enum SupervisorAction: Hashable, Sendable {
    /// Start the slot's program; `restarts` counts the lives before this one.
    case spawn(slot: Int, restarts: UInt32)
    /// Send a signal to the slot's child.
    case signal(slot: Int, Signal)
    /// All slots are welcomed for the first time.
    case announceReady
    /// Unlink the segments of a dead child.
    case removeSegments(WorkerKind, Incarnation)
    /// Say that a slot's child does not turn its loop any more; it is killed.
    case reportHang(slot: Int, Standstill)
    /// Say that a slot's child took too long to start, so much later than the limit was at first;
    /// it is killed.
    case reportLateStart(slot: Int, movedMilliseconds: Int)
    /// Say that a slot waits before its next start.
    case reportBackoff(slot: Int, milliseconds: Int)
    /// Say that a child can never start with these settings.
    case reportRefusal(slot: Int, code: Int32)
    /// Say that a slot's child was killed and has not ended.
    case reportUnkilled(slot: Int)
    /// Say that the stack drains.
    case reportDrain
    /// All children have ended: stop. Once, last.
    case finish(SupervisorEnd)
}

/// How a stack ended.
public enum SupervisorEnd: Hashable, Sendable {
    /// Drained as asked.
    case drained
    /// The drain took too long; what was left was killed.
    case limitPassed
    /// A second signal: all was killed.
    case forced
    /// A child cannot start with these settings; its exit code.
    case refused(Int32)

    /// The exit status of `serve` (SEMANTICS §15.7): 0, 124 deadline, 130 cancelled, or the
    /// child's.
    public var exitStatus: Int32 {
        switch self {
        case .drained: 0
        case .limitPassed: 124
        case .forced: 130
        case .refused(let code): code
        }
    }

    /// The status for a defect of ours or of the installation.
    static let internalCode: Int32 = 70
}

extension SupervisorState {
    mutating func spawnDueSlots(
        at now: Instant, into actions: inout [SupervisorAction], all: Bool = false
    ) {
        for slot in slots.indices where all || slots[slot].isDue(at: now) {
            slots[slot].start(
                at: now, limit: StartLimit(milliseconds: startMilliseconds, from: now))
            actions.append(.spawn(slot: slot, restarts: slots[slot].restarts))
        }
    }

    mutating func spawnFailed(
        _ slot: Int, at now: Instant, into actions: inout [SupervisorAction]
    ) {
        guard wasReady || slots[slot].isForeign else {
            slots[slot].life = .done
            beginDrain(.refused(SupervisorEnd.internalCode), at: now, into: &actions)
            return
        }
        ended(
            slot, ChildEnd(status: .exited(SupervisorEnd.internalCode)), at: now, into: &actions)
    }

    mutating func welcomed(
        _ slot: Int, _ incarnation: Incarnation, into actions: inout [SupervisorAction]
    ) {
        slots[slot].welcome(incarnation)
        guard phase == .running, !wasReady,
            slots.allSatisfy({ $0.isForeign || $0.isWelcomed })
        else { return }
        wasReady = true
        actions.append(.announceReady)
    }

    mutating func ended(
        _ slot: Int, _ child: ChildEnd, at now: Instant, into actions: inout [SupervisorAction]
    ) {
        guard slots[slot].isRunning else { return }
        // Somebody else's programs remove what theirs leave.
        if !slots[slot].isForeign, let incarnation = slots[slot].incarnation,
            let kind = slots[slot].kind.stackKind
        {
            orphans.append(
                OrphanedLife(
                    kind: kind, incarnation: incarnation,
                    removedAt: now.adding(milliseconds: Self.orphanGraceMilliseconds)))
        }
        switch phase {
        case .running: endedWhileRunning(slot, child, at: now, into: &actions)
        case .endingFronts(let until, _):
            endedBehindFronts(slot, child, until: until, at: now, into: &actions)
        case .draining: endedWhileDraining(slot, child, at: now, into: &actions)
        case .killing, .finished: slots[slot].life = .done
        }
    }

    /// Kills what has said nothing for too long. A tick that comes late says nothing: whoever kept
    /// this process from running may have kept the others.
    mutating func endLateStarts(at now: Instant, into actions: inout [SupervisorAction]) {
        guard phase == .running else { return }
        for slot in slots.indices {
            guard var limit = slots[slot].startLimit, limit.until <= now else { continue }
            let isLate = now > limit.until.adding(milliseconds: Self.latenessMilliseconds)
            if isLate, limit.beginAnew(at: now) {
                slots[slot].startMayTake(limit)
            } else {
                slots[slot].startMayTake(nil)
                actions += [
                    .reportLateStart(slot: slot, movedMilliseconds: limit.movedMilliseconds),
                    .signal(slot: slot, .kill),
                ]
            }
        }
    }

    /// What children that say nothing waited for a processor does not count.
    mutating func excuseStarts(_ waited: [Int: Int]) {
        for (slot, milliseconds) in waited {
            guard var limit = slots[slot].startLimit else { continue }
            limit.waited(milliseconds: milliseconds)
            slots[slot].startMayTake(limit)
        }
    }

    private mutating func endedWhileRunning(
        _ slot: Int, _ child: ChildEnd, at now: Instant, into actions: inout [SupervisorAction]
    ) {
        if !wasReady, !slots[slot].isForeign, case .exited(let code) = child.status,
            Self.refusals.contains(code)
        {
            slots[slot].life = .done
            actions.append(.reportRefusal(slot: slot, code: code))
            beginDrain(.refused(code), at: now, into: &actions)
        } else {
            restart(slot, child, at: now, into: &actions)
        }
    }

    /// Whoever serves what fronts still answer comes back.
    private mutating func endedBehindFronts(
        _ slot: Int, _ child: ChildEnd, until: Instant, at now: Instant,
        into actions: inout [SupervisorAction]
    ) {
        guard slots[slot].kind.isFront else {
            return restart(slot, child, at: now, into: &actions)
        }
        slots[slot].life = .done
        if !frontsRun { drainStack(until: until, into: &actions) }
    }

    /// A worker that dies while the coordinator still finishes what it admitted comes back; one
    /// that ended with 0 was drained.
    private mutating func endedWhileDraining(
        _ slot: Int, _ child: ChildEnd, at now: Instant, into actions: inout [SupervisorAction]
    ) {
        guard slots[slot].kind != .coordinator else {
            slots[slot].life = .done
            awaitWorkers(at: now)
            return
        }
        if coordinatorRuns, !child.status.isSuccess, !slots[slot].kind.isFront {
            restart(slot, child, at: now, into: &actions)
        } else {
            slots[slot].life = .done
        }
    }

    private mutating func restart(
        _ slot: Int, _ child: ChildEnd, at now: Instant, into actions: inout [SupervisorAction]
    ) {
        let delay = slots[slot].end(child, at: now)
        if delay > 0 { actions.append(.reportBackoff(slot: slot, milliseconds: delay)) }
        spawnDueSlots(at: now, into: &actions)
    }
}

extension SupervisorState {
    var coordinatorRuns: Bool {
        slots.contains { $0.kind == .coordinator && $0.isRunning }
    }

    var frontsRun: Bool { slots.contains { $0.kind.isFront && $0.isRunning } }

    mutating func stopRequested(
        at now: Instant, into actions: inout [SupervisorAction]
    ) {
        switch phase {
        case .running: beginDrain(.drained, at: now, into: &actions)
        case .endingFronts, .draining: kill(.forced, at: now, into: &actions)
        case .killing, .finished: break
        }
    }

    mutating func beginDrain(
        _ end: SupervisorEnd, at now: Instant, into actions: inout [SupervisorAction]
    ) {
        self.end = end
        actions.append(.reportDrain)
        let until = now.adding(milliseconds: Self.drainMilliseconds)
        for slot in slots.indices where slots[slot].kind.isFront { slots[slot].stopWaiting() }
        guard frontsRun else { return drainStack(until: until, into: &actions) }
        phase = .endingFronts(
            until: until, frontsUntil: now.adding(milliseconds: Self.frontsMilliseconds))
        signal(.terminate, into: &actions) { $0.kind.isFront }
    }

    /// Fronts have ended, or had their time.
    mutating func drainStack(until: Instant, into actions: inout [SupervisorAction]) {
        for slot in slots.indices where slots[slot].kind == .coordinator {
            slots[slot].stopWaiting()
        }
        phase = .draining(until: until, workersUntil: nil)
        if coordinatorRuns {
            signal(.terminate, into: &actions) { $0.kind == .coordinator }
        } else {
            endWorkers(into: &actions)
        }
    }

    /// The coordinator is gone: nobody waits for restarts any more, and workers that were told to
    /// drain need a moment.
    mutating func awaitWorkers(at now: Instant) {
        guard case .draining(let until, _) = phase else { return }
        for slot in slots.indices { slots[slot].stopWaiting() }
        phase = .draining(
            until: until,
            workersUntil: now.adding(milliseconds: Self.workersGraceMilliseconds))
    }

    mutating func endWorkers(into actions: inout [SupervisorAction]) {
        for slot in slots.indices { slots[slot].stopWaiting() }
        signal(.terminate, into: &actions) { $0.kind != .coordinator }
    }

    mutating func kill(
        _ end: SupervisorEnd, at now: Instant, into actions: inout [SupervisorAction]
    ) {
        self.end = end
        phase = .killing(until: now.adding(milliseconds: Self.killMilliseconds))
        for slot in slots.indices { slots[slot].stopWaiting() }
        signal(.kill, into: &actions) { _ in true }
    }

    /// What still runs is left to the kernel, which ends it as soon as it can.
    mutating func leaveUnkilled(into actions: inout [SupervisorAction]) {
        for slot in slots.indices where slots[slot].isRunning {
            actions.append(.reportUnkilled(slot: slot))
            slots[slot].life = .done
        }
    }

    private func signal(
        _ signal: Signal, into actions: inout [SupervisorAction],
        where isMeant: (SupervisorSlot) -> Bool
    ) {
        for slot in slots.indices where slots[slot].isRunning && isMeant(slots[slot]) {
            actions.append(.signal(slot: slot, signal))
        }
    }
}
