import Messages
import Synchronization

/// Counts the loads that were answered by vouchers, for the coordinator. Any thread.
///
/// A load adds one to a number that all threads share, and no more where its voucher is in the
/// tally of this round. Each `take` begins a round.
final class VoucherUses: Sendable {
    /// In the tally of which round a voucher is; 0: in none.
    typealias Mark = Atomic<UInt64>

    private struct State {
        var tally = VoucherTally()
        /// Loads that were counted before the end, and not taken; `nil` before the end.
        var last: UInt64?
    }

    /// Loads since the last `take`; the highest bit says that the client has ended.
    private let loads = Atomic<UInt64>(0)
    private let round = Atomic<UInt64>(1)
    private let state = Mutex(State())
    private let commands: CommandQueue

    private static let closed: UInt64 = 1 << 63

    /// The line of these commands tells the coordinator.
    init(_ commands: CommandQueue) { self.commands = commands }

    /// Counts a load; false where the client has ended. `mark` is that of the voucher.
    func count(_ number: UInt64, _ mark: borrowing Mark) -> Bool {
        guard addLoad() else { return false }
        if mark.load(ordering: .relaxed) != round.load(ordering: .relaxed) {
            if let round = tally(number) { mark.store(round, ordering: .relaxed) }
        }
        return true
    }

    /// Counts loads whose voucher has no mark here; false where the client has ended.
    func count(_ number: UInt64) -> Bool {
        guard addLoad() else { return false }
        _ = tally(number)
        return true
    }

    private func addLoad() -> Bool {
        loads.add(1, ordering: .sequentiallyConsistent).oldValue & Self.closed == 0
    }

    /// Sees to it that the voucher is told of; the round in which it will be, if it has room.
    private func tally(_ number: UInt64) -> UInt64? {
        let (place, round) = state.withLock { state in
            (state.tally.add(number), self.round.load(ordering: .relaxed))
        }
        if place.isNews { _ = commands.post(.tellUsed) }
        return place.isIn ? round : nil
    }

    /// The client has ended.
    func close() {
        state.withLock { state in
            let before = loads.bitwiseOr(Self.closed, ordering: .sequentiallyConsistent).oldValue
            if before & Self.closed == 0 { state.last = before }
        }
    }

    /// What the coordinator is to be told now; `nil` where nothing was used.
    ///
    /// The round ends before the loads are taken: a load that saw its voucher in the round was
    /// added before, so no load is left for which nothing will be told.
    func take() -> UsedVouchers? {
        state.withLock { state in
            let numbers = state.tally.take()
            round.add(1, ordering: .sequentiallyConsistent)
            let count: UInt64
            if let last = state.last {
                count = last
                state.last = 0
            } else {
                count = loads.exchange(0, ordering: .sequentiallyConsistent)
            }
            return count == 0 ? nil : UsedVouchers(loads: count, numbers: numbers)
        }
    }

    /// Whether it is to be told without further delay.
    var isFull: Bool { state.withLock { $0.tally.isFull } }
}
