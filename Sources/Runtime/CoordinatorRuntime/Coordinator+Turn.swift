import Admission
import Bootstrap
import EventLoop
import Linux
import Messages
import SharedArena

// One turn of the loop, in the order in which things happen.
extension Coordinator {
    /// Serves until the shutdown is over; returns the exit status of the process.
    public mutating func run() throws -> Int32 {
        var loop = EventLoop(sourcesMax: 2 * gatewayList.count + 1)
        for gateway in gatewayList { gateway.watch(in: &loop) }
        let signals = loop.add(descriptor: bootstrap.signals.descriptor.number)
        tellReady()
        while exitStatus == nil {
            try work(in: loop.wait(until: nextTurn), signals)
        }
        sayLeftOut(requestLog.takeLeftOut())
        arena.unlinkAll()
        return exitStatus ?? 0
    }

    /// When the next turn begins at the latest. What is left over from this one goes on at once.
    private var nextTurn: Instant? {
        guard leaving.isEmpty else { return began }
        guard let due = timers.nextDue else { return scheduler.nextDeadline }
        return scheduler.nextDeadline.map { min($0, due) } ?? due
    }

    private mutating func work(in turn: EventLoop.Turn, _ signals: EventSource) throws {
        let now = turn.wokenAt
        scheduler.calendarOffsetMilliseconds =
            WallClock.nanoseconds() / 1_000_000 - Int64(clamping: now.nanoseconds / 1_000_000)
        lookAtSecrets(at: now)
        // Ends of connections first: what is read afterwards is of the living (SEMANTICS §14.3).
        for gateway in gatewayList where gateway.hasConnectionNews(in: turn) {
            drainMonitor(gateway, at: now)
        }
        endClients(at: now)
        try serveListeners(turn)
        countPartings()
        if turn.ready.contains(signals) { try drainSignals(at: now) }
        if let due = scheduler.nextDeadline, due <= now { handle(.tick, at: now) }
        for timer in timers.takeDue(at: now) { ring(timer, at: now) }
        moveShutdown(at: now)
        tellPrefetches(at: now)
    }

    private mutating func drainSignals(at now: Instant) throws {
        while exitStatus == nil, let received = try bootstrap.signals.next() {
            if received.signal == .hangUp {
                reload(at: now)
            } else {
                tellShutdown(.stopRequested(isReplaced: keepsWorkers), at: now)
            }
        }
    }

    private mutating func ring(_ timer: CoordinatorTimer, at now: Instant) {
        switch timer {
        case .retryPeers: retryOutboxes(at: now)
        case .sendReleases: sendReleases(at: now)
        case .expireUploads: expireUploads(at: now)
        case .endStalledDeliveries: endStalledDeliveries(at: now)
        case .closeSilentConnections: closeSilentConnections(at: now)
        case .shutdown: tellShutdown(.tick, at: now)
        }
    }
}
