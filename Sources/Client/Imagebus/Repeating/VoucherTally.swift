import Messages

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
