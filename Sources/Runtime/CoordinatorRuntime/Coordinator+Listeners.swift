import Admission
import EventLoop
import Messages

// What one turn does at the listeners, and how much of it.
extension Coordinator {
    /// Takes messages of all listeners in turn, until none are left or the time is over. What is
    /// left is found by the next wait, which ends at once. `admin/` is always first; of the others
    /// that one is next which comes after the last one that was served.
    mutating func serveListeners(_ turn: EventLoop.Turn) throws {
        var budget = TurnBudget(from: turn.wokenAt)
        var ready: UInt64 = 0
        for (index, gateway) in gatewayList.enumerated() where gateway.hasMessages(in: turn) {
            ready |= 1 << UInt64(index)
        }
        if ready & 1 != 0, try serve(0, &ready, &budget, turn) { return }
        while ready != 0 {
            lastListener = (lastListener + 1) % gatewayList.count
            guard ready & (1 << UInt64(lastListener)) != 0 else { continue }
            if try serve(lastListener, &ready, &budget, turn) { return }
        }
    }

    /// Serves a listener and closes it where nothing is left; `true` where the time is over.
    private mutating func serve(
        _ index: Int, _ ready: inout UInt64, _ budget: inout TurnBudget, _ turn: EventLoop.Turn
    ) throws -> Bool {
        switch try serve(gatewayList[index], &budget, at: turn.wokenAt) {
        case .more: return false
        case .nothing:
            ready &= ~(1 << UInt64(index))
            return false
        case .noTime: return true
        }
    }

    /// What is left after a listener had its turn.
    private enum Left {
        case more
        case nothing
        case noTime
    }

    private mutating func serve(
        _ gateway: Gateway, _ budget: inout TurnBudget, at now: Instant
    ) throws -> Left {
        var left = Self.messagesInARow
        while left > 0 {
            guard try gateway.receive() else { return .nothing }
            let received = try receive(from: gateway, at: now)
            if budget.isSpent(afterLong: !received.isHit) { return .noTime }
            left -= received.count
        }
        return .more
    }

    /// Messages of one listener, or loads, before the next one has its turn.
    private static var messagesInARow: Int { 32 }
}
