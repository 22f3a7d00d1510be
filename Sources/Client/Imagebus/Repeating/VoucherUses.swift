import Messages
import Synchronization

/// Counts the loads that were answered by vouchers, for the coordinator. Any thread.
final class VoucherUses: Sendable {
    private struct State {
        var tally = VoucherTally()
        var isClosed = false
    }

    private let state = Mutex(State())
    private let commands: CommandQueue

    /// The line of these commands tells the coordinator.
    init(_ commands: CommandQueue) { self.commands = commands }

    /// Counts a load; false where the client has ended.
    func count(_ number: UInt64) -> Bool {
        let (isOpen, isNews) = state.withLock { state -> (Bool, Bool) in
            guard !state.isClosed else { return (false, false) }
            let (wasEmpty, wasFull) = (state.tally.isEmpty, state.tally.isFull)
            state.tally.add(number)
            return (true, wasEmpty || state.tally.isFull != wasFull)
        }
        if isNews { _ = commands.post(.tellUsed) }
        return isOpen
    }

    /// The client has ended.
    func close() { state.withLock { $0.isClosed = true } }

    /// What the coordinator is to be told now.
    func take() -> UsedVouchers? { state.withLock { $0.tally.take() } }

    /// Whether it is to be told without further delay.
    var isFull: Bool { state.withLock { $0.tally.isFull } }
}
