import Linux
import Messages

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
