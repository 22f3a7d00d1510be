import Caching

/// Entries by slot, with the links of the list that contains each.
struct SlotMap: Sendable {
    static let none: Int32 = -1

    struct Slot: Sendable {
        var item: EvictionItem
        var list: UInt8 = 0
        /// A counter for use by the policy.
        var mark: UInt32 = 0
        fileprivate(set) var newer = SlotMap.none
        fileprivate(set) var older = SlotMap.none
    }

    private var slots: [Slot] = []
    private var free: [Int32] = []
    private(set) var count = 0

    subscript(slot: Int32) -> Slot {
        get { slots[Int(slot)] }
        _modify { yield &slots[Int(slot)] }
    }

    mutating func add(_ item: EvictionItem) -> Int32 {
        count += 1
        if let slot = free.popLast() {
            slots[Int(slot)] = Slot(item: item)
            return slot
        }
        slots.append(Slot(item: item))
        return Int32(slots.count - 1)
    }

    mutating func drop(_ slot: Int32) {
        count -= 1
        free.append(slot)
    }

    mutating func link(_ slot: Int32, newer: Int32, older: Int32) {
        (slots[Int(slot)].newer, slots[Int(slot)].older) = (newer, older)
    }

    mutating func setNewer(_ slot: Int32, _ other: Int32) { slots[Int(slot)].newer = other }
    mutating func setOlder(_ slot: Int32, _ other: Int32) { slots[Int(slot)].older = other }
}

/// The ends of a list of slots and the sum of its bytes.
struct SlotList: Sendable {
    private(set) var newest = SlotMap.none
    private(set) var oldest = SlotMap.none
    private(set) var bytes = 0
    private(set) var count = 0

    mutating func append(_ slot: Int32, in table: inout SlotMap) {
        table.link(slot, newer: SlotMap.none, older: newest)
        if newest != SlotMap.none { table.setNewer(newest, slot) } else { oldest = slot }
        newest = slot
        bytes += table[slot].item.bytes
        count += 1
    }

    mutating func unlink(_ slot: Int32, in table: inout SlotMap) {
        let (newer, older) = (table[slot].newer, table[slot].older)
        if newer != SlotMap.none { table.setOlder(newer, older) } else { newest = older }
        if older != SlotMap.none { table.setNewer(older, newer) } else { oldest = newer }
        bytes -= table[slot].item.bytes
        count -= 1
    }

    mutating func renew(_ slot: Int32, in table: inout SlotMap) {
        unlink(slot, in: &table)
        append(slot, in: &table)
    }
}
