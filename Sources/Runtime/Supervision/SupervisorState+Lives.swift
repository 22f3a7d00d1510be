import Linux
import Messages

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
