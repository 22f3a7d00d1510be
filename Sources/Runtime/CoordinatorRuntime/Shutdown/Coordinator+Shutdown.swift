import Admission
import Bootstrap
import Messages
import Observability

// Does what `ShutdownState` decides, and tells it what is left.
extension Coordinator {
    /// Tells the shutdown what happened and does what it answers, in order.
    mutating func tellShutdown(_ event: ShutdownEvent, at now: Instant) {
        for action in shutdown.handle(event, at: now) { perform(action, at: now) }
        if let deadline = shutdown.deadline { timers.arm(.shutdown, by: deadline) }
    }

    /// Leaves phases of the shutdown for which nothing is left to wait. Counts again after each
    /// phase that did something: the count is another one then.
    mutating func moveShutdown(at now: Instant) {
        var phase: ShutdownState.Phase?
        while shutdown.wantsCensus, shutdown.phase != phase {
            phase = shutdown.phase
            tellShutdown(.counted(census), at: now)
        }
    }

    private var census: ShutdownCensus {
        ShutdownCensus(
            clients: peers.count { $0.listener.isOfClients || replacementAskers.contains($0.id) },
            jobs: scheduler.liveJobs, workers: peers.count(where: \.isWorker))
    }

    private mutating func perform(_ action: ShutdownAction, at now: Instant) {
        switch action {
        case .admitNothing: handle(.drain, at: now)
        case .dismissWorkers:
            for peer in peers.all where peer.isWorker && !peer.isLeaving {
                send(.toWorker(.drain), to: peer.id, at: now)
            }
        case .report(let note): report(note)
        case .exit: exitStatus = 0
        }
    }

    private func report(_ note: ShutdownAction.Note) {
        switch note {
        case .begun: bootstrap.log.info("draining")
        case .requestsLeft:
            bootstrap.log.warning("what was admitted takes too long: the next coordinator does it")
        case .workersLeft:
            let left = peers.all.compactMap { peer in
                if case .worker(let pool, let hello) = peer.role {
                    "\(pools[pool].name) \(hello.pid)"
                } else {
                    nil
                }
            }
            bootstrap.log.warning(
                "workers did not end", ["left": .string(left.joined(separator: ", "))])
        }
    }
}
