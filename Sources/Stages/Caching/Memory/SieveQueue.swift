/// The queue and the hand of SIEVE: slots of values, linked in order of arrival.
struct SieveQueue: Sendable {
    /// One entry and its place in the queue.
    struct Slot: Sendable {
        var entry: MemoryEntry
        var visited = false
        fileprivate var newer = none
        fileprivate var older = none
    }

    private static let none: Int32 = -1

    // A free slot keeps its last entry without the key; the next one overwrites it.
    private var slots: [Slot] = []
    private var free: [Int32] = []
    private var newest = none
    private var oldest = none
    private var hand = none
    private(set) var count = 0

    subscript(index: Int32) -> Slot {
        get { slots[Int(index)] }
        _modify { yield &slots[Int(index)] }
    }

    /// Puts an entry at the new end, not visited.
    mutating func insert(_ entry: MemoryEntry) -> Int32 {
        var slot = Slot(entry: entry)
        slot.older = newest
        let index = place(slot)
        if newest != Self.none { self[newest].newer = index } else { oldest = index }
        newest = index
        count += 1
        return index
    }

    /// Takes an entry out; the hand, if it stood there, moves on.
    mutating func remove(_ index: Int32) {
        let slot = self[index]
        if hand == index { hand = slot.newer }
        if slot.newer != Self.none {
            self[slot.newer].older = slot.older
        } else {
            newest = slot.older
        }
        if slot.older != Self.none {
            self[slot.older].newer = slot.newer
        } else {
            oldest = slot.newer
        }
        self[index].entry.key = nil
        free.append(index)
        count -= 1
    }

    /// The next one to go: not visited. Clears the bits it passes.
    mutating func victim() -> Int32? {
        var index = hand == Self.none ? oldest : hand
        // Two rounds: the first may only clear bits.
        for _ in 0..<(2 * count) {
            if !self[index].visited {
                hand = index
                return index
            }
            self[index].visited = false
            index = self[index].newer == Self.none ? oldest : self[index].newer
        }
        return nil
    }

    /// All entries, oldest first.
    func inOrder() -> [MemoryEntry] {
        var found: [MemoryEntry] = []
        found.reserveCapacity(count)
        var index = oldest
        while index != Self.none {
            found.append(self[index].entry)
            index = self[index].newer
        }
        return found
    }

    private mutating func place(_ slot: Slot) -> Int32 {
        if let index = free.popLast() {
            slots[Int(index)] = slot
            return index
        }
        slots.append(slot)
        return Int32(slots.count - 1)
    }
}
