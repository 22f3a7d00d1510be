import Admission
import Messages

// How connections begin and end, and what follows for sessions.
extension Coordinator {
    mutating func drainMonitor(_ gateway: Gateway, at now: Instant) {
        // A monitor ends with its context only, and then so does the loop.
        guard let ended = try? gateway.endedConnections(at: now) else { return }
        for connection in ended {
            guard let id = peers.id(at: gateway.listener, connection) else {
                counters.strangers += 1
                continue
            }
            countLoss(of: id)
            end(id, at: now)
        }
        watchSilentConnections(of: gateway, at: now)
    }

    /// Who ends in order says so before.
    private mutating func countLoss(of id: UInt64) {
        guard let peer = peers[id], !peer.isLeaving else { return }
        switch peer.role {
        case .client: partings.insert(peer.routing)
        case .worker: counters.lostWorkers += 1
        }
    }

    /// A connection's end is seen before its last messages are read, of which one may be a goodbye.
    mutating func countPartings() {
        counters.lostClients += UInt64(partings.count)
        partings.removeAll(keepingCapacity: true)
    }

    /// Withdraws what clients were interested in that have gone. All of a process go at once: who
    /// comes too late here is next in the next turn.
    mutating func endClients(at now: Instant) {
        guard !leaving.isEmpty else { return }
        var budget = TurnBudget(from: now)
        while let id = leaving.popLast() {
            handle(.clientLeft(ClientID(id)), at: now)
            if budget.isSpent() { return }
        }
    }

    // MARK: - Connections without a session

    /// Connections that never say hello are closed after a while: they take places from others.
    mutating func watchSilentConnections(of gateway: Gateway?, at now: Instant) {
        guard gateway?.hasSilent == true else { return }
        timers.arm(
            .closeSilentConnections, by: now.adding(milliseconds: Self.silenceCheckMilliseconds))
    }

    /// Closes those that had time enough.
    mutating func closeSilentConnections(at now: Instant) {
        for gateway in gatewayList {
            gateway.closeSilent(at: now)
            watchSilentConnections(of: gateway, at: now)
        }
    }

    private static var silenceCheckMilliseconds: Int { 1_000 }
}
