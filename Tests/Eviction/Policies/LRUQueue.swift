import Caching

/// Evicts the least recently used entry.
struct LRUQueue: EvictionQueue {
    private var table = SlotMap()
    private var list = SlotList()

    init(bytesMax: Int) {}

    var count: Int { table.count }

    mutating func insert(_ item: EvictionItem) -> Int32 {
        let slot = table.add(item)
        list.append(slot, in: &table)
        return slot
    }

    mutating func use(_ slot: Int32) { list.renew(slot, in: &table) }

    mutating func remove(_ slot: Int32, asVictim: Bool) {
        list.unlink(slot, in: &table)
        table.drop(slot)
    }

    mutating func victim() -> Int32? { list.oldest == SlotMap.none ? nil : list.oldest }
}
