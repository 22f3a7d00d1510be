import Caching

/// GreedyDual-Size-Frequency (Cherkasova, 1998): evicts the entry with the lowest uses × work ÷
/// bytes, added to the priority of the last evicted entry, so that unused entries age.
struct GreedyDualQueue: EvictionQueue {
    private var items: [EvictionItem] = []
    private var uses: [Double] = []
    private var free: [Int32] = []
    private var heap = SlotHeap()
    private var age = 0.0

    init(bytesMax: Int) {}

    var count: Int { heap.count }

    mutating func insert(_ item: EvictionItem) -> Int32 {
        let slot: Int32
        if let unused = free.popLast() {
            slot = unused
            (items[Int(slot)], uses[Int(slot)]) = (item, 1)
        } else {
            slot = Int32(items.count)
            items.append(item)
            uses.append(1)
        }
        heap.set(slot, value(slot))
        return slot
    }

    mutating func use(_ slot: Int32) {
        uses[Int(slot)] += 1
        heap.set(slot, value(slot))
    }

    mutating func remove(_ slot: Int32, asVictim: Bool) {
        if asVictim { age = max(age, heap.value(slot)) }
        heap.remove(slot)
        free.append(slot)
    }

    mutating func victim() -> Int32? { heap.least }

    private func value(_ slot: Int32) -> Double {
        let item = items[Int(slot)]
        return age + uses[Int(slot)] * item.work / Double(item.bytes)
    }
}

/// The same with unknown work, taken as 1 for every entry.
struct GreedySizeQueue: EvictionQueue {
    private var queue: GreedyDualQueue

    init(bytesMax: Int) { queue = GreedyDualQueue(bytesMax: bytesMax) }

    var count: Int { queue.count }

    mutating func insert(_ item: EvictionItem) -> Int32 {
        queue.insert(EvictionItem(hash: item.hash, bytes: item.bytes))
    }

    mutating func use(_ slot: Int32) { queue.use(slot) }
    mutating func remove(_ slot: Int32, asVictim: Bool) { queue.remove(slot, asVictim: asVictim) }
    mutating func victim() -> Int32? { queue.victim() }
}
