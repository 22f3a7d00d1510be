import Caching

/// S3-FIFO (Yang et al., SOSP 2023): a small queue for new entries, a main queue for those used
/// there or inserted again soon, and the hashes of entries evicted from the small queue.
struct S3FIFOQueue: EvictionQueue {
    private static let small: UInt8 = 0
    private static let main: UInt8 = 1

    private var table = SlotMap()
    private var lists = [SlotList(), SlotList()]
    private var ghosts = GhostQueue()
    private let smallBytesMax: Int

    init(bytesMax: Int) { smallBytesMax = bytesMax / 10 }

    var count: Int { table.count }

    mutating func insert(_ item: EvictionItem) -> Int32 {
        let slot = table.add(item)
        let list = ghosts.remove(item.hash) ? Self.main : Self.small
        put(slot, list)
        return slot
    }

    mutating func use(_ slot: Int32) { table[slot].mark = min(3, table[slot].mark + 1) }

    mutating func remove(_ slot: Int32, asVictim: Bool) {
        let list = table[slot].list
        if asVictim, list == Self.small {
            ghosts.add(table[slot].item.hash, countMax: max(1, lists[Int(Self.main)].count))
        }
        lists[Int(list)].unlink(slot, in: &table)
        table.drop(slot)
    }

    mutating func victim() -> Int32? {
        while count > 0 {
            let small = lists[Int(Self.small)]
            let isSmallFull = small.bytes >= smallBytesMax || lists[Int(Self.main)].count == 0
            if isSmallFull, small.count > 0 {
                let slot = small.oldest
                guard table[slot].mark > 1 else { return slot }
                move(slot, Self.main)
                table[slot].mark = 0
            } else {
                let slot = lists[Int(Self.main)].oldest
                guard table[slot].mark > 0 else { return slot }
                table[slot].mark -= 1
                lists[Int(Self.main)].renew(slot, in: &table)
            }
        }
        return nil
    }

    private mutating func put(_ slot: Int32, _ list: UInt8) {
        table[slot].list = list
        lists[Int(list)].append(slot, in: &table)
    }

    private mutating func move(_ slot: Int32, _ list: UInt8) {
        lists[Int(table[slot].list)].unlink(slot, in: &table)
        put(slot, list)
    }
}

/// Hashes of recently evicted entries: first in, first out.
struct GhostQueue: Sendable {
    private var turns: [UInt64: UInt64] = [:]
    private var queue: [(hash: UInt64, turn: UInt64)] = []
    private var head = 0
    private var turn: UInt64 = 0

    mutating func add(_ hash: UInt64, countMax: Int) {
        turn += 1
        turns[hash] = turn
        queue.append((hash, turn))
        while queue.count - head > countMax {
            let old = queue[head]
            head += 1
            if turns[old.hash] == old.turn { turns[old.hash] = nil }
        }
        if head > 65_536, head * 2 > queue.count {
            queue.removeFirst(head)
            head = 0
        }
    }

    mutating func remove(_ hash: UInt64) -> Bool { turns.removeValue(forKey: hash) != nil }
}
