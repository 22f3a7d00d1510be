import Linux
import Model
import ProcessRuntime
import Synchronization

/// A client-side lease on a memory hit, which can be checked for validity. For programs that keep
/// something derived from an answer, such as a decoded image or the head of a response, and want to
/// reuse it instead of loading again. Can be used from any thread.
public struct AnswerVoucher: Sendable {
    /// A class, because every copy of a response copies its voucher.
    private final class Properties: Sendable {
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

    private let properties: Properties

    init(_ voucher: Voucher, _ words: VoucherReader, _ uses: VoucherUses) {
        properties = Properties(voucher, words, uses)
    }

    /// The voucher's number in the voucher file of its session.
    var number: UInt64 { properties.word.number }

    /// Returns whether a load would get the same answer from memory now. If so, this counts as such
    /// a load: in the stack's metrics, and as a use of the entry, which delays its eviction.
    ///
    /// A removal, replacement, refusal or configuration change is visible here by the time its
    /// initiator was notified of completion (SEMANTICS §5.24). Returns false once the client has
    /// ended.
    public func use() -> Bool { stands && count() }

    /// Counts a load that this voucher answered. Returns false if the client has ended.
    func count() -> Bool { properties.uses.count(properties.word.number, properties.mark) }

    /// Whether another value is the same voucher of the same session.
    func isSame(as other: AnswerVoucher?) -> Bool {
        other?.properties.words === properties.words && other?.number == number
    }

    /// Whether the voucher is valid. The time is checked before the voucher file: an answer that
    /// expires between the two checks was still valid when it was requested.
    var stands: Bool {
        if let until = properties.until, until <= .now() { return false }
        return properties.words.stands(properties.word)
    }
}

/// Counts the loads answered with vouchers, to report them to the coordinator. Can be used from any
/// thread.
///
/// A load increments a counter shared by all threads, and does nothing else if its voucher is
/// already in the tally of the current round. Each `collect` begins a new round.
final class VoucherUses: Sendable {
    /// The round in whose tally a voucher is; 0 if in none.
    typealias Mark = Atomic<UInt64>

    private struct State {
        var tally = VoucherTally()
        /// Whether the connection was notified that there is something to take.
        var isAwaited = false
        /// Loads counted before the end that were not taken yet; `nil` before the end.
        var last: UInt64?
    }

    /// Loads since the last `collect`. The highest bit is set once the client has ended.
    private let loads = Atomic<UInt64>(0)
    private let round = Atomic<UInt64>(1)
    private let state = Mutex(State())
    private let commands: CommandQueue

    private static let closed: UInt64 = 1 << 63

    /// Creates a counter; the connection behind `commands` reports to the coordinator.
    init(_ commands: CommandQueue) { self.commands = commands }

    /// Counts a load answered with a voucher whose mark is `mark`. Returns false if the client has
    /// ended.
    func count(_ number: UInt64, _ mark: borrowing Mark) -> Bool {
        guard addLoad() else { return false }
        tally(number, mark)
        return true
    }

    /// Counts a load whose voucher has no mark. Returns false if the client has ended.
    func count(_ number: UInt64) -> Bool {
        guard addLoad() else { return false }
        _ = tally(number)
        return true
    }

    /// Performs the first half of counting: increments the number of loads.
    func addLoad() -> Bool {
        loads.add(1, ordering: .sequentiallyConsistent).oldValue & Self.closed == 0
    }

    /// Performs the second half: adds the voucher to the tally unless it is in that of this round.
    func tally(_ number: UInt64, _ mark: borrowing Mark) {
        guard mark.load(ordering: .relaxed) != round.load(ordering: .relaxed) else { return }
        if let round = tally(number) { mark.store(round, ordering: .relaxed) }
    }

    /// Adds a voucher to the tally and notifies the connection. Returns the round in which it will
    /// be reported, or `nil` if the tally is full.
    private func tally(_ number: UInt64) -> UInt64? {
        state.withLock { state in
            let place = state.tally.add(number)
            if !state.isAwaited || place.isLast {
                // If the command is not accepted, the next use tries again.
                state.isAwaited = commands.post(.notifyUsed)
            }
            return place.isIn ? round.load(ordering: .relaxed) : nil
        }
    }

    /// Ends counting when the client ends.
    func close() {
        state.withLock { state in
            let before = loads.bitwiseOr(Self.closed, ordering: .sequentiallyConsistent).oldValue
            if before & Self.closed == 0 { state.last = before }
        }
    }

    /// Returns the uses to report to the coordinator now, or `nil` if there are none.
    ///
    /// The round ends before the counter is read. A load that found its voucher in the ended round
    /// was counted before, and is included. Every other load adds its number later and notifies the
    /// connection. A number added after its load was reported waits for the next loads.
    func collect() -> UsedVouchers? {
        state.withLock { state in
            state.isAwaited = false
            guard state.last != nil || !state.tally.isEmpty else { return nil }
            let count = endRound(&state)
            return count == 0 ? nil : UsedVouchers(loads: count, numbers: state.tally.removeAll())
        }
    }

    /// Discards unreported uses: their session has ended, and the next session assigns the same
    /// numbers to other vouchers.
    func drop() {
        state.withLock { state in
            state.isAwaited = false
            _ = endRound(&state)
            _ = state.tally.removeAll()
        }
    }

    /// Ends the round and returns the loads not taken yet.
    private func endRound(_ state: inout State) -> UInt64 {
        round.add(1, ordering: .sequentiallyConsistent)
        guard let last = state.last else {
            return loads.exchange(0, ordering: .sequentiallyConsistent)
        }
        state.last = 0
        return last
    }

    /// Whether to report without further delay.
    var isFull: Bool { state.withLock { $0.tally.isFull } }
}

/// The numbers of vouchers used for answers that have not been reported to the coordinator.
struct VoucherTally {
    private var numbers: [UInt64] = []
    private var known: Set<UInt64> = []

    /// The largest number of vouchers per message.
    static let numbersMax = MessageLimits.idsMax

    var isEmpty: Bool { numbers.isEmpty }
    /// Whether to report without further delay.
    var isFull: Bool { numbers.count >= Self.numbersMax }

    /// Adds a number unless it is present. `isIn`: whether it is present now. `isLast`: whether it
    /// filled the tally.
    mutating func add(_ number: UInt64) -> (isIn: Bool, isLast: Bool) {
        guard !known.contains(number) else { return (true, false) }
        guard !isFull else { return (false, false) }
        known.insert(number)
        numbers.append(number)
        return (true, isFull)
    }

    /// Removes and returns all numbers, without duplicates.
    mutating func removeAll() -> [UInt64] {
        known.removeAll(keepingCapacity: true)
        let taken = numbers
        numbers = []
        return taken
    }
}
