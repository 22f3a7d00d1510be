import Messages

/// What was answered by vouchers and the coordinator was not told of yet.
struct VoucherTally {
    private var loads: UInt64 = 0
    private var numbers: [UInt64] = []
    private var known: Set<UInt64> = []

    /// Numbers that one message tells.
    static let numbersMax = MessageLimits.idsMax

    var isEmpty: Bool { loads == 0 }
    /// Whether it is to be told without further delay.
    var isFull: Bool { numbers.count >= Self.numbersMax }

    mutating func add(_ number: UInt64) {
        loads &+= 1
        guard numbers.last != number, !isFull, known.insert(number).inserted else { return }
        numbers.append(number)
    }

    /// Empties it; `nil` where nothing was used.
    mutating func take() -> UsedVouchers? {
        guard loads > 0 else { return nil }
        defer {
            loads = 0
            numbers.removeAll(keepingCapacity: true)
            known.removeAll(keepingCapacity: true)
        }
        return UsedVouchers(loads: loads, numbers: numbers)
    }
}
