package import Linux
package import Model

/// The supervisor's state machine: events in, actions out, no I/O and no clock.
///
/// A slot holds one child and is refilled whenever its child exits. On shutdown, front ends end
/// first, so that no more requests arrive; then the coordinator, if any, drains and notifies the
/// workers, which exit by themselves.
package struct SupervisorState: Sendable {
    /// The time after `SIGTERM` until everything left is killed (SEMANTICS §14.10).
    package static let drainMilliseconds = 8_000
    /// The time that workers have to exit after their coordinator before they get a signal.
    package static let workersGraceMilliseconds = 500
    /// The part of the drain that front ends have before the coordinator is signaled as well.
    package static let frontsMilliseconds = 3_000
    /// The time that children have to exit after they were killed.
    package static let killMilliseconds = 1_000
    /// The time that segments of a dead child are kept, because they may still be read.
    package static let orphanGraceMilliseconds = 2_000
    /// The time from a child's start to its first sign of life: a hundred times what it needs on an
    /// idle machine. Waiting for the coordinator doesn't count.
    package static let startMilliseconds = 30_000
    /// The maximum delay of a tick that still counts as on time.
    static let latenessMilliseconds = 500
    /// The exit codes that mean that a child can't run with these settings: 64 usage, 78
    /// configuration, such as a cache directory that another cache process holds.
    package static let refusals: Set<Int32> = [64, 78]

    enum Phase: Hashable, Sendable {
        case running
        /// Front ends were told to exit; everything else continues.
        case endingFronts(until: Instant, frontsUntil: Instant)
        case draining(until: Instant, workersUntil: Instant?)
        /// Everything left was killed. A process blocked in the kernel, for example on a disk,
        /// exits only when that operation completes, and is not waited for any longer.
        case killing(until: Instant)
        case finished
    }

    var phase = Phase.running
    var end = SupervisorEnd.drained
    var slots: [SupervisorSlot]
    var orphans: [OrphanedLife] = []
    var wasReady = false
    var heartbeats = HeartbeatMonitor()
    let startMilliseconds: Int
    /// The time of the event that is being handled, and its actions so far.
    private var now = Instant(nanoseconds: 0)
    private var actions: [SupervisorAction] = []

    /// Creates one slot for each kind, in that order; the coordinator must be first. The slots in
    /// `external` run external programs.
    package init(
        kinds: [ProcessKind], external: Set<Int> = [],
        startMilliseconds: Int = Self.startMilliseconds
    ) {
        slots = kinds.enumerated().map { slot, kind in
            SupervisorSlot(kind: kind, isExternal: external.contains(slot))
        }
        self.startMilliseconds = startMilliseconds
    }

    /// When `tick` is due at the latest; nil if nothing depends on the clock.
    package var nextDeadline: Instant? {
        var deadlines = slots.compactMap(\.waitsUntil) + orphans.map(\.removedAt)
        if phase == .running {
            deadlines += heartbeats.nextLook.map { [$0] } ?? []
            deadlines += slots.compactMap(\.startLimit?.until)
        }
        if case .endingFronts(_, let frontsUntil) = phase { deadlines.append(frontsUntil) }
        if case .draining(let until, let workersUntil) = phase {
            deadlines += [until] + (workersUntil.map { [$0] } ?? [])
        }
        if case .killing(let until) = phase { deadlines.append(until) }
        return deadlines.min()
    }

    /// Handles one event and appends the resulting actions in order.
    package mutating func handle(
        _ event: SupervisorEvent, at now: Instant, into actions: inout [SupervisorAction]
    ) {
        self.now = now
        switch event {
        case .start: spawnDueSlots(all: true)
        case .spawnFailed(let slot): spawnFailed(slot)
        case .begun(let slot, let incarnation): slots[slot].begin(incarnation)
        case .welcomed(let slot, let incarnation): welcomed(slot, incarnation)
        case .ended(let slot, let status, let hadJob):
            ended(slot, ChildEnd(status: status, hadJob: hadJob))
        case .stopRequested: stopRequested()
        case .looked(let counters, let waited): looked(counters, waited)
        case .tick: tick()
        }
        finishIfDone()
        actions += self.actions
        self.actions = []
    }

    /// Returns whether the heartbeat counters of the children should be checked now.
    func wantsLook(at now: Instant) -> Bool { phase == .running && heartbeats.isDue(at: now) }

    /// Returns the incarnation of a child that has reported it and whose counter is valid.
    func incarnation(of slot: Int) -> Incarnation? { slots[slot].incarnation }

    /// Returns whether a child has shown no sign of life since the last check, so that its waiting
    /// time matters: it is starting, or its counter is unchanged.
    func isSilent(_ slot: Int, counter: UInt64?) -> Bool {
        counter.map { heartbeats.standsStill(slot, at: $0) } ?? (slots[slot].startLimit != nil)
    }

    /// Returns whether the coordinator has welcomed the child.
    func isWelcomed(_ slot: Int) -> Bool { slots[slot].isWelcomed }

    private mutating func looked(_ counters: [Int: UInt64], _ waited: [Int: Int]) {
        excuseStarts(waited)
        var living: [Int: (incarnation: Incarnation, value: UInt64)] = [:]
        for (slot, value) in counters {
            if let incarnation = incarnation(of: slot) { living[slot] = (incarnation, value) }
        }
        for slot in heartbeats.looked(living, waited: waited, at: now) where phase == .running {
            let stall = heartbeats.forget(slot)
            actions += [.report(.hangs(stall), slot: slot), .signal(slot: slot, .kill)]
        }
    }

    private mutating func tick() {
        for orphan in orphans where orphan.removedAt <= now {
            actions.append(.removeSegments(orphan.kind, orphan.incarnation))
        }
        orphans.removeAll { [now] in $0.removedAt <= now }
        if case .endingFronts(let until, let frontsUntil) = phase, frontsUntil <= now {
            drainStack(until: until)
        }
        if case .draining(let until, let workersUntil) = phase {
            if until <= now {
                kill(.limitPassed)
            } else if let workersUntil, workersUntil <= now {
                phase = .draining(until: until, workersUntil: nil)
                endWorkers()
            }
        }
        if case .killing(let until) = phase, until <= now { leaveUnkilled() }
        endLateStarts()
        spawnDueSlots()
    }

    private mutating func finishIfDone() {
        guard phase != .running, phase != .finished, slots.allSatisfy({ $0.isDone }) else { return }
        phase = .finished
        orphans = []
        actions.append(.finish(end))
    }
}

/// An input of the supervisor's state machine; slots count from 0.
package enum SupervisorEvent: Hashable, Sendable {
    /// Start the children. Once, first.
    case start
    /// A program could not be started.
    case spawnFailed(slot: Int)
    /// A child is initialized and connects to its coordinator.
    case begun(slot: Int, Incarnation)
    /// The coordinator welcomed a child, or the coordinator itself is ready.
    case welcomed(slot: Int, Incarnation)
    /// A child exited and was reaped; `hadJob` if its crash record contains a job.
    case ended(slot: Int, ChildStatus, hadJob: Bool = false)
    /// SIGTERM or SIGINT: the first drains, the second kills immediately.
    case stopRequested
    /// The heartbeat counters of initialized children, by slot; one that doesn't advance indicates
    /// a hang. For silent children, the milliseconds that they `waited` for a processor since the
    /// last check, which don't count toward a hang.
    case looked([Int: UInt64], waited: [Int: Int] = [:])
    /// Time has passed.
    case tick
}

/// An output of the supervisor's state machine, to be executed in order.
package enum SupervisorAction: Hashable, Sendable {
    /// Start the slot's program; `restarts` counts previous incarnations.
    case spawn(slot: Int, restarts: UInt32)
    /// Send a signal to the slot's child.
    case signal(slot: Int, Signal)
    /// Unlink the segments of a dead child.
    case removeSegments(WorkerKind, Incarnation)
    /// Report an event of the stack, or of a slot's child.
    case report(SupervisorNote.Event, slot: Int? = nil)
    /// All children have exited: stop. Once, last.
    case finish(SupervisorEnd)
}

/// How a stack ended.
package enum SupervisorEnd: Hashable, Sendable {
    /// Drained as requested.
    case drained
    /// The drain timed out; remaining processes were killed.
    case limitPassed
    /// A second signal: all processes were killed.
    case forced
    /// A child can't run with these settings; its exit code.
    case refused(Int32)

    /// The exit status of `serve` (SEMANTICS §15.7): 0, 124 for a timeout, 130 for a forced end, or
    /// that of the child.
    package var exitStatus: Int32 {
        switch self {
        case .drained: 0
        case .limitPassed: 124
        case .forced: 130
        case .refused(let code): code
        }
    }

    /// The status for a defect of the program or of the installation.
    static let internalCode: Int32 = 70
}

extension SupervisorState {
    mutating func spawnDueSlots(all: Bool = false) {
        for slot in slots.indices where all || slots[slot].isDue(at: now) {
            slots[slot].start(
                at: now, limit: StartLimit(milliseconds: startMilliseconds, from: now))
            actions.append(.spawn(slot: slot, restarts: slots[slot].restarts))
        }
    }

    mutating func spawnFailed(_ slot: Int) {
        guard wasReady || slots[slot].isExternal else {
            slots[slot].life = .done
            beginDrain(.refused(SupervisorEnd.internalCode))
            return
        }
        ended(slot, ChildEnd(status: .exited(SupervisorEnd.internalCode)))
    }

    mutating func welcomed(_ slot: Int, _ incarnation: Incarnation) {
        slots[slot].welcome(incarnation)
        guard phase == .running, !wasReady,
            slots.allSatisfy({ $0.isExternal || $0.isWelcomed })
        else { return }
        wasReady = true
        actions.append(.report(.ready))
    }

    mutating func ended(_ slot: Int, _ child: ChildEnd) {
        guard slots[slot].isRunning else { return }
        // External programs remove their own segments.
        if !slots[slot].isExternal, let incarnation = slots[slot].incarnation,
            let kind = slots[slot].kind.stackKind
        {
            orphans.append(
                OrphanedLife(
                    kind: kind, incarnation: incarnation,
                    removedAt: now.adding(milliseconds: Self.orphanGraceMilliseconds)))
        }
        switch phase {
        case .running: endedWhileRunning(slot, child)
        case .endingFronts(let until, _): endedBehindFronts(slot, child, until: until)
        case .draining: endedWhileDraining(slot, child)
        case .killing, .finished: slots[slot].life = .done
        }
    }

    /// Kills children that exceeded their start limit. A late tick is ignored: whatever delayed
    /// this process may have delayed the children.
    mutating func endLateStarts() {
        guard phase == .running else { return }
        for slot in slots.indices {
            guard var limit = slots[slot].startLimit, limit.until <= now else { continue }
            let isLate = now > limit.until.adding(milliseconds: Self.latenessMilliseconds)
            if isLate, limit.restart(at: now) {
                slots[slot].startMayTake(limit)
            } else {
                slots[slot].startMayTake(nil)
                actions += [
                    .report(
                        .startsTooLong(
                            milliseconds: startMilliseconds,
                            movedMilliseconds: limit.movedMilliseconds), slot: slot),
                    .signal(slot: slot, .kill),
                ]
            }
        }
    }

    /// Extends the start limits of silent children by the time they waited for a processor.
    mutating func excuseStarts(_ waited: [Int: Int]) {
        for (slot, milliseconds) in waited {
            guard var limit = slots[slot].startLimit else { continue }
            limit.waited(milliseconds: milliseconds)
            slots[slot].startMayTake(limit)
        }
    }

    private mutating func endedWhileRunning(_ slot: Int, _ child: ChildEnd) {
        if !wasReady, !slots[slot].isExternal, case .exited(let code) = child.status,
            Self.refusals.contains(code)
        {
            slots[slot].life = .done
            actions.append(.report(.refused(code: code), slot: slot))
            beginDrain(.refused(code))
        } else {
            restart(slot, child)
        }
    }

    /// Restarts a child that front ends still need in order to answer.
    private mutating func endedBehindFronts(_ slot: Int, _ child: ChildEnd, until: Instant) {
        guard slots[slot].kind.isFront else { return restart(slot, child) }
        slots[slot].life = .done
        if !frontsRun { drainStack(until: until) }
    }

    /// Restarts a worker that crashes while the coordinator still finishes admitted requests; a
    /// worker that exited with 0 was drained.
    private mutating func endedWhileDraining(_ slot: Int, _ child: ChildEnd) {
        guard slots[slot].kind != .coordinator else {
            slots[slot].life = .done
            awaitWorkers()
            return
        }
        if coordinatorRuns, !child.status.isSuccess, !slots[slot].kind.isFront {
            restart(slot, child)
        } else {
            slots[slot].life = .done
        }
    }

    private mutating func restart(_ slot: Int, _ child: ChildEnd) {
        let delay = slots[slot].end(child, at: now)
        if delay > 0 { actions.append(.report(.backingOff(milliseconds: delay), slot: slot)) }
        spawnDueSlots()
    }
}

extension SupervisorState {
    var coordinatorRuns: Bool {
        slots.contains { $0.kind == .coordinator && $0.isRunning }
    }

    var frontsRun: Bool { slots.contains { $0.kind.isFront && $0.isRunning } }

    mutating func stopRequested() {
        switch phase {
        case .running: beginDrain(.drained)
        case .endingFronts, .draining: kill(.forced)
        case .killing, .finished: break
        }
    }

    mutating func beginDrain(_ end: SupervisorEnd) {
        self.end = end
        actions.append(.report(.draining))
        let until = now.adding(milliseconds: Self.drainMilliseconds)
        for slot in slots.indices where slots[slot].kind.isFront { slots[slot].stopWaiting() }
        guard frontsRun else { return drainStack(until: until) }
        // Without a coordinator here, nothing has to end after the front ends.
        let hasCoordinator = slots.contains { $0.kind == .coordinator }
        phase = .endingFronts(
            until: until,
            frontsUntil: hasCoordinator
                ? now.adding(milliseconds: Self.frontsMilliseconds) : until)
        signal(.terminate) { $0.kind.isFront }
    }

    /// Signals the coordinator after front ends have exited or timed out.
    mutating func drainStack(until: Instant) {
        for slot in slots.indices where slots[slot].kind == .coordinator {
            slots[slot].stopWaiting()
        }
        phase = .draining(until: until, workersUntil: nil)
        if coordinatorRuns {
            signal(.terminate) { $0.kind == .coordinator }
        } else {
            endWorkers()
        }
    }

    /// Cancels pending restarts after the coordinator has exited, and gives draining workers a
    /// moment.
    mutating func awaitWorkers() {
        guard case .draining(let until, _) = phase else { return }
        for slot in slots.indices { slots[slot].stopWaiting() }
        phase = .draining(
            until: until,
            workersUntil: now.adding(milliseconds: Self.workersGraceMilliseconds))
    }

    mutating func endWorkers() {
        for slot in slots.indices { slots[slot].stopWaiting() }
        signal(.terminate) { $0.kind != .coordinator }
    }

    mutating func kill(_ end: SupervisorEnd) {
        self.end = end
        phase = .killing(until: now.adding(milliseconds: Self.killMilliseconds))
        for slot in slots.indices { slots[slot].stopWaiting() }
        signal(.kill) { _ in true }
    }

    /// Leaves the remaining processes to the kernel, which ends them as soon as it can.
    mutating func leaveUnkilled() {
        for slot in slots.indices where slots[slot].isRunning {
            actions.append(.report(.unkilled, slot: slot))
            slots[slot].life = .done
        }
    }

    private mutating func signal(_ signal: Signal, where isMeant: (SupervisorSlot) -> Bool) {
        for slot in slots.indices where slots[slot].isRunning && isMeant(slots[slot]) {
            actions.append(.signal(slot: slot, signal))
        }
    }
}
