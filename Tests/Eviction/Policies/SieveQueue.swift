import Caching

/// SIEVE (Zhang et al., NSDI 2024): a queue in order of arrival, one "visited" bit per entry, and a
/// hand that moves from old to new, evicts the first entry without the bit and clears the bits it
/// passes. A use sets one bit and moves nothing.
struct SieveQueue: EvictionQueue {
    private struct Slot {
        var visited = false
        var newer = none
        var older = none
    }

    private static let none: Int32 = -1

    private var slots: [Slot] = []
    private var free: [Int32] = []
    private var newest = none
    private var oldest = none
    private var hand = none
    private(set) var count = 0

    /// An empty queue; the limit is not used.
    init(bytesMax: Int = 0) {}

    /// Inserts an entry at the new end, not visited.
    mutating func insert(_ item: EvictionItem) -> Int32 {
        let index = place(Slot(older: newest))
        if newest != Self.none { slots[Int(newest)].newer = index } else { oldest = index }
        newest = index
        count += 1
        return index
    }

    mutating func use(_ slot: Int32) { slots[Int(slot)].visited = true }

    /// Removes an entry; if the hand points to it, it moves on.
    mutating func remove(_ index: Int32, asVictim: Bool) {
        let slot = slots[Int(index)]
        if hand == index { hand = slot.newer }
        if slot.newer != Self.none {
            slots[Int(slot.newer)].older = slot.older
        } else {
            newest = slot.older
        }
        if slot.older != Self.none {
            slots[Int(slot.older)].newer = slot.newer
        } else {
            oldest = slot.newer
        }
        free.append(index)
        count -= 1
    }

    /// The next entry to evict: one that isn't visited. Clears the bits it passes.
    mutating func victim() -> Int32? {
        var index = hand == Self.none ? oldest : hand
        // Two rounds: the first may only clear bits.
        for _ in 0..<(2 * count) {
            if !slots[Int(index)].visited {
                hand = index
                return index
            }
            slots[Int(index)].visited = false
            index = slots[Int(index)].newer == Self.none ? oldest : slots[Int(index)].newer
        }
        return nil
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
