import Messages

/// By which vouchers answers were given that the coordinator was not told of yet.
struct VoucherTally {
    private var numbers: [UInt64] = []
    private var known: Set<UInt64> = []

    /// Numbers that one message tells.
    static let numbersMax = MessageLimits.idsMax

    /// Whether it is to be told without further delay.
    var isFull: Bool { numbers.count >= Self.numbersMax }

    /// Adds a number, unless it is there or there is no room: `isIn`. The first one and the last
    /// one that there is room for are `isNews`.
    mutating func add(_ number: UInt64) -> (isIn: Bool, isNews: Bool) {
        guard !known.contains(number) else { return (true, false) }
        guard !isFull else { return (false, false) }
        known.insert(number)
        numbers.append(number)
        return (true, numbers.count == 1 || isFull)
    }

    /// Empties it, and returns what was in it, each once.
    mutating func take() -> [UInt64] {
        known.removeAll(keepingCapacity: true)
        let taken = numbers
        numbers = []
        return taken
    }
}
