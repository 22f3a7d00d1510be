import EventLoop
import Linux
import Messages
import SharedArena
import Synchronization

/// Says whether an answer still stands: for who keeps what it made of one, such as a decoded image
/// or the head of another answer, and wants to use it again instead of loading. Any thread.
public struct AnswerVoucher: Sendable {
    /// An object, since each copy of a response copies its voucher.
    private final class Facts: Sendable {
        let uses: VoucherUses
        let words: VoucherReader
        let word: VoucherReader.Word
        let until: Instant?
        let mark = VoucherUses.Mark(0)

        init(_ voucher: Voucher, _ words: VoucherReader, _ uses: VoucherUses) {
            (self.words, self.uses) = (words, uses)
            (word, until) = (words.word(of: voucher.number), voucher.until)
        }
    }

    private let facts: Facts

    init(_ voucher: Voucher, _ words: VoucherReader, _ uses: VoucherUses) {
        facts = Facts(voucher, words, uses)
    }

    /// In the file of its session.
    var number: UInt64 { facts.word.number }

    /// Whether a load would be answered the same way now, from memory. Where it is, that counts as
    /// such a load: in the figures of the stack, and as a use of the entry, which stays longer for
    /// that.
    ///
    /// What was removed, replaced, refused or set anew is seen as soon as whoever asked for that
    /// was told that it is done (SEMANTICS §5.24). After the end of the client it is false.
    public func use() -> Bool { stands && count() }

    /// Counts a load that was answered by it; false where the client has ended.
    func count() -> Bool { facts.uses.count(facts.word.number, facts.mark) }

    /// Whether another one is the same voucher of the same session.
    func isSame(as other: AnswerVoucher?) -> Bool {
        other?.facts.words === facts.words && other?.number == number
    }

    /// The load of the time comes before that of the word: an answer that expired between both was
    /// still right when it was asked for.
    var stands: Bool {
        if let until = facts.until, until <= .now() { return false }
        return facts.words.stands(facts.word)
    }
}

/// Counts the loads that were answered by vouchers, for the coordinator. Any thread.
///
/// A load adds one to a number that all threads share, and no more where its voucher is in the
/// tally of this round. Each `take` begins a round.
final class VoucherUses: Sendable {
    /// In the tally of which round a voucher is; 0: in none.
    typealias Mark = Atomic<UInt64>

    private struct State {
        var tally = VoucherTally()
        /// The line was told that there is something to take.
        var isAwaited = false
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
        tally(number, mark)
        return true
    }

    /// Counts loads whose voucher has no mark here; false where the client has ended.
    func count(_ number: UInt64) -> Bool {
        guard addLoad() else { return false }
        _ = tally(number)
        return true
    }

    /// The first half of counting.
    func addLoad() -> Bool {
        loads.add(1, ordering: .sequentiallyConsistent).oldValue & Self.closed == 0
    }

    /// The other half: nothing where the voucher is in the tally of this round.
    func tally(_ number: UInt64, _ mark: borrowing Mark) {
        guard mark.load(ordering: .relaxed) != round.load(ordering: .relaxed) else { return }
        if let round = tally(number) { mark.store(round, ordering: .relaxed) }
    }

    /// Sees to it that the voucher is told of; the round in which it will be, if it has room.
    private func tally(_ number: UInt64) -> UInt64? {
        state.withLock { state in
            let place = state.tally.add(number)
            if !state.isAwaited || place.isLast {
                // Where it is not taken, the next use tries again.
                state.isAwaited = commands.post(.tellUsed)
            }
            return place.isIn ? round.load(ordering: .relaxed) : nil
        }
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
    /// The round ends before the loads are taken. A load that saw its voucher in the round was
    /// added before, and is among them. Each other load leaves its number later, and tells the
    /// line. A number whose load was told before it came waits for the next loads.
    func take() -> UsedVouchers? {
        state.withLock { state in
            state.isAwaited = false
            guard state.last != nil || !state.tally.isEmpty else { return nil }
            let count = endRound(&state)
            return count == 0 ? nil : UsedVouchers(loads: count, numbers: state.tally.take())
        }
    }

    /// Forgets what was not told: its session has ended, and the next one gives its numbers to
    /// other vouchers.
    func drop() {
        state.withLock { state in
            state.isAwaited = false
            _ = endRound(&state)
            _ = state.tally.take()
        }
    }

    /// Returns the loads that were not taken.
    private func endRound(_ state: inout State) -> UInt64 {
        round.add(1, ordering: .sequentiallyConsistent)
        guard let last = state.last else {
            return loads.exchange(0, ordering: .sequentiallyConsistent)
        }
        state.last = 0
        return last
    }

    /// Whether it is to be told without further delay.
    var isFull: Bool { state.withLock { $0.tally.isFull } }
}

/// By which vouchers answers were given that the coordinator was not told of yet.
struct VoucherTally {
    private var numbers: [UInt64] = []
    private var known: Set<UInt64> = []

    /// Numbers that one message tells.
    static let numbersMax = MessageLimits.idsMax

    var isEmpty: Bool { numbers.isEmpty }
    /// Whether it is to be told without further delay.
    var isFull: Bool { numbers.count >= Self.numbersMax }

    /// Adds a number, unless it is there. `isIn`: it is there now. `isLast`: it took the last
    /// place.
    mutating func add(_ number: UInt64) -> (isIn: Bool, isLast: Bool) {
        guard !known.contains(number) else { return (true, false) }
        guard !isFull else { return (false, false) }
        known.insert(number)
        numbers.append(number)
        return (true, isFull)
    }

    /// Empties it, and returns what was in it, each once.
    mutating func take() -> [UInt64] {
        known.removeAll(keepingCapacity: true)
        let taken = numbers
        numbers = []
        return taken
    }
}
